// The texts of a player's page while the game is stopped: what it waits for, and what the player can do.

/** @typedef {{seat: string, state: "open" | "here" | "ready" | "playing" | "away" | "agent", agent?: string}} SeatFacts */
/**
 * The state of a game as one player's page knows it.
 * @typedef {object} Standing
 * @property {string | null} lost why there is no connection just now
 * @property {boolean} hasBegun the first step has been played
 * @property {boolean} isReady this player has said start or resume, and has not paused since
 * @property {boolean} isRecovering the world is being rebuilt
 * @property {boolean} isMoving it is, because the game goes to a process of its own, and nothing failed
 * @property {number | null} restoredAt the step from which a game goes on whose server was restarted
 * @property {SeatFacts[]} others who sits in the other seats; nobody in a game for one
 * @property {boolean} isTouch the player has no keyboard
 */
/** @typedef {{headline: string, text: string, button: "resume" | "stop" | null}} Words */

/**
 * Never empty: a player whose game is stopped reads why, and what to do.
 * @param {Standing} standing
 * @returns {Words}
 */
export function wordsOf({ lost, hasBegun, isReady, isRecovering, isMoving, restoredAt, others, isTouch }) {
  if (lost) return { headline: "One moment", text: lost, button: null };
  const how = isTouch ? "Tap here" : "Click here or press any key";
  if (!hasBegun) {
    if (!isReady) return { headline: "Paused", text: `The game has not begun yet. ${how} when you are ready.`, button: null };
    return { headline: isAwaited(others) ? "Waiting" : "Get ready", text: beforeTheStart(others), button: others.length ? "stop" : null };
  }
  if (isRecovering) {
    const next = isReady ? "It will continue where it stopped." : `${how} to continue when it is ready.`;
    const why = isMoving ? "This game needs more processor time, so it moves to a process of its own." : "The game is being restored from its recording.";
    return { headline: "One moment", text: `${why} ${next}`, button: null };
  }
  const people = others.filter((one) => one.state !== "agent");
  const away = people.filter((one) => one.state !== "playing");
  if (isReady) {
    const text = away.length ? `Waiting for ${named(away, others)} to continue.` : "The game continues in a moment.";
    return { headline: away.length ? "Waiting" : "One moment", text, button: null };
  }
  if (restoredAt !== null) {
    return { headline: "The server was restarted", text: `Your game continues from step ${restoredAt}.`, button: "resume" };
  }
  const meanwhile = people.length === 0 ? "" : away.length === people.length ? "Nobody is playing now. " : "The others keep playing without you. ";
  return { headline: "Paused", text: `${meanwhile}${how} to continue.`, button: null };
}

/** @param {SeatFacts[]} others */
export function isOpen(others) {
  return others.some(({ state }) => state === "open");
}

/** @param {SeatFacts[]} others */
export function isAwaited(others) {
  return others.some(awaits);
}

/** @param {SeatFacts[]} others */
function beforeTheStart(others) {
  const open = others.filter((one) => one.state === "open");
  if (open.length) return `Waiting for ${open.length > 1 ? `${open.length} more players` : "another player"} to join. You may look at other pages meanwhile.`;
  const awaited = others.filter(awaits);
  return awaited.length ? `Waiting for ${named(awaited, others)} to be ready.` : "The game begins in a moment.";
}

/** @param {SeatFacts} one */
function awaits({ state }) {
  return state !== "ready" && state !== "playing" && state !== "agent";
}

/**
 * The text beside the game about its players.
 * @param {string} mine my seat
 * @param {SeatFacts[]} others
 */
export function company(mine, others) {
  const agents = others.filter((one) => one.state === "agent");
  const playing = agents.map((one) => ` An agent${one.agent ? ` (${one.agent})` : ""} plays ${readable(one.seat)}.`).join("");
  const away = others.filter((one) => one.state === "away");
  const who = named(away, others);
  const missing = away.length ? ` ${who[0].toUpperCase()}${who.slice(1)} ${away.length > 1 ? "have" : "has"} paused or left.` : "";
  return { note: `You play ${readable(mine)}.${playing}${missing}`, news: `${playing}${missing}`.trim() };
}

/** A seat's name as people write it. @param {string} seat */
export function readable(seat) {
  return seat.replaceAll("_", " ");
}

/**
 * @param {SeatFacts[]} seats
 * @param {SeatFacts[]} others everybody else in the game
 */
export function named(seats, others) {
  return others.length === 1 ? "your partner" : seats.map((one) => readable(one.seat)).join(" and ");
}
