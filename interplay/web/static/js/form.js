// The judging form's rules: which answers a match's questions need, and which the server requires.

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} kind direct, comparative or overall
 * @property {string} text
 */
/** @typedef {{outcome: string | null, responses: Record<string, any>, reason: string}} Answer */
/** @typedef {{name: string, legend: string, side: "" | "left" | "right", choices: [string, string][]}} Group */

/**
 * The groups of radio buttons that a question needs: one, or one for each side where the sides are judged separately.
 * @param {Question} question
 * @param {boolean} [mayBeNa] whether the overall one may be answered with that one cannot tell
 * @returns {Group[]}
 */
export function radioGroups(question, mayBeNa = false) {
  if (question.kind === "direct") {
    return (/** @type {const} */ (["left", "right"])).map((side) => ({
      name: `${question.id}.${side}`,
      legend: side === "left" ? "Left" : "Right",
      side,
      choices: [["yes", "Yes"], ["no", "No"]],
    }));
  }
  /** @type {[string, string][]} */
  const choices = [["left", "Left"], ["draw", "Draw"], ["right", "Right"]];
  if (question.kind === "comparative") choices.push(["na", "N/A"]);
  else if (mayBeNa) choices.push(["na", "Can't tell"]);
  return [{ name: question.id, legend: "", side: "", choices }];
}

/**
 * The chosen answers, in the server's words; open questions are left out.
 * @param {Question[]} questions
 * @param {Map<string, string>} chosen group name -> value
 * @param {string} reason
 * @returns {Answer}
 */
export function readAnswer(questions, chosen, reason) {
  /** @type {Answer} */
  const answer = { outcome: null, responses: {}, reason };
  for (const { id, kind } of questions) {
    if (kind === "direct") {
      const left = chosen.get(`${id}.left`);
      const right = chosen.get(`${id}.right`);
      if (left && right) answer.responses[id] = { left: left === "yes", right: right === "yes" };
    } else if (kind === "overall") {
      answer.outcome = chosen.get(id) ?? null;
    } else if (chosen.has(id)) {
      answer.responses[id] = chosen.get(id);
    }
  }
  return answer;
}

/**
 * Missing answers by the server's field names; the server checks them again.
 * @param {Question[]} questions
 * @param {Answer} answer
 * @param {number} minChars
 * @returns {{field: string, message: string}[]}
 */
export function missing(questions, answer, minChars) {
  const errors = [];
  for (const { id, kind } of questions) {
    if (kind === "overall") {
      if (answer.outcome === null) errors.push({ field: "outcome", message: "Please choose an answer. It decides the comparison." });
    } else if (!(id in answer.responses)) {
      errors.push({ field: `responses.${id}`, message: kind === "direct" ? "Please answer for both players." : "Please choose one." });
    }
  }
  const count = countChars(answer.reason);
  if (count < minChars) errors.push({ field: "reason", message: `Please write ${minChars - count} more character${minChars - count === 1 ? "" : "s"}.` });
  else if (minChars && saysNothing(answer.reason)) errors.push({ field: "reason", message: "Please say it in words." });
  return errors;
}

/** What shows nothing though it counts as a letter, a sign or a mark: fillers, joiners, variation selectors. */
const BLANK = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

/**
 * Whether a text has no letter, or only one letter repeated, by the server's rule.
 * @param {string} text
 */
export function saysNothing(text) {
  const letters = new Set(text.replace(BLANK, "").normalize("NFC").toLowerCase().match(/\p{L}/gu));
  return letters.size === 0 || (letters.size === 1 && countChars(text) > 1);
}

/**
 * Number of visible characters as the server counts them: several spaces in a row count as one, and so does a letter with its accents.
 * @param {string} text
 */
export function countChars(text) {
  let count = 0;
  let wasMark = false;
  const seen = text.replace(BLANK, "").replace(/\p{C}/gu, (char) => (/[\t-\r\u0085]/.test(char) ? " " : ""));
  for (const char of seen.trim().replace(/\s+/gu, " ")) {
    const isMark = /[\p{Mn}\p{Me}]/u.test(char);
    if (!(isMark && wasMark)) count++;
    wasMark = isMark;
  }
  return count;
}

/**
 * The button's text about what is missing; empty when the answer is complete.
 * @param {number} seconds to wait
 * @param {{left: number, right: number}} [toWatch] of each video still to be played
 */
export function waitingWords(seconds, toWatch) {
  const watch = toWatch ? Math.max(toWatch.left, toWatch.right) : 0;
  if (watch > 0) return `Watch ${Math.ceil(watch)} s more`;
  const left = Math.ceil(seconds);
  return left > 0 ? `Submit in ${left} s` : "";
}

/**
 * How many seconds of each video a judge must still play before an answer counts.
 * @param {{left: number, right: number}} watched shares, from 0 to 1
 * @param {{left: number, right: number}} lengths seconds; 0 while a video loads
 * @param {number} minShare
 */
export function stillToWatch(watched, lengths, minShare) {
  // Never less than the server requires; the thousandth is for the rounding of lengths.
  const left = (/** @type {"left" | "right"} */ side) => {
    if (minShare > 0 && !lengths[side]) return Infinity;
    const missing = minShare - watched[side];
    return missing > 0.001 ? Math.ceil(10 * missing * lengths[side]) / 10 : 0;
  };
  return { left: left("left"), right: left("right") };
}

/**
 * Which player a judge compares, in a game of several. @param {string} seat
 * @returns {string}
 */
export function seatWords(seat) {
  const name = seat.replaceAll("_", " ");
  return `Each video shows several players. Watch the ${name} player in both videos: your answer is about that player.`;
}
