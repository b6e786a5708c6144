// The wheel of a seat that a player shares with an agent: who has it, and the key that hands it over.

/** Keys for it, in this order: the first one that the game does not need. */
const CODES = ["KeyT", "KeyG", "KeyV", "KeyB", "Backquote"];

/**
 * @param {Record<string, string>} bindings KeyboardEvent.code -> button of the game
 * @returns {string} KeyboardEvent.code
 */
export function wheelCode(bindings) {
  return CODES.find((code) => !Object.hasOwn(bindings, code)) ?? "F9";
}

export class Wheel {
  /**
   * @param {HTMLElement} button shown while there is an agent
   * @param {{bindings: Record<string, string>}} held the game's keys, which a player may change
   * @param {(who: "me" | "agent") => void} ask tells the server who shall act
   */
  constructor(button, held, ask) {
    this.button = button;
    this.held = held;
    this.ask = ask;
    /** @type {"me" | "agent" | null} who acts; null where there is no agent to share with */
    this.who = null;
    this.agent = "";
    button.addEventListener("click", () => {
      button.blur(); // the space bar is a game key
      this.turn();
    });
  }

  get code() {
    return wheelCode(this.held.bindings);
  }

  /** Ask for the other one of the two. */
  turn() {
    if (this.who !== null) this.ask(this.who === "me" ? "agent" : "me");
  }

  /**
   * @param {{code: string, repeat: boolean, preventDefault: () => void}} event a key that was pressed
   * @returns {boolean} whether it was the key of the wheel
   */
  press(event) {
    if (this.who === null || event.code !== this.code) return false;
    event.preventDefault();
    if (!event.repeat) this.turn();
    return true;
  }

  /**
   * @param {{[field: string]: any}} message
   * @returns {string} for people who listen to the page
   */
  onMessage({ who, agent }) {
    this.who = who;
    this.agent = agent;
    return this.say();
  }

  /** Who acts, and by which key that changes. @returns {string} */
  say() {
    const { who, agent } = this;
    if (who === null) return "";
    const key = this.code.replace("Key", "");
    const [now, next] = who === "me" ? ["You play", `let ${agent} play`] : [`The agent ${agent} plays`, "play yourself"];
    this.button.hidden = false;
    this.button.textContent = `${now}. Press ${key} to ${next}`;
    return this.button.textContent;
  }

  /**
   * Say that an agent cannot continue.
   * @param {{[field: string]: any}} message
   * @param {string} mySeat empty in a game for one
   * @returns {string}
   */
  onFailed({ seat, agent, message }, mySeat) {
    if (!mySeat || seat === mySeat) {
      this.who = null;
      this.button.hidden = true;
    }
    return agent ? `The agent ${agent} cannot play any more: ${message}` : "Your partner cannot play any more.";
  }
}
