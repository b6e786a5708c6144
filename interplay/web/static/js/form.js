// The judging form's rules: what a match's questions ask for, and what the server wants of it.

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} kind direct, comparative or overall
 * @property {string} text
 */
/** @typedef {{outcome: string | null, responses: Record<string, any>, reason: string}} Answer */
/** @typedef {{name: string, legend: string, side: "" | "left" | "right", choices: [string, string][]}} Group */

/**
 * The groups of radio buttons a question needs: one, or one a side when each side is asked by itself.
 * @param {Question} question
 * @returns {Group[]}
 */
export function radioGroups(question) {
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
  return [{ name: question.id, legend: "", side: "", choices }];
}

/**
 * What was chosen, in the server's words; questions not answered yet are left out.
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
 * What is still missing, by the server's field names; the server checks again.
 * @param {Question[]} questions
 * @param {Answer} answer
 * @param {number} minChars
 * @returns {{field: string, message: string}[]}
 */
export function missing(questions, answer, minChars) {
  const errors = [];
  for (const { id, kind } of questions) {
    if (kind === "overall") {
      if (answer.outcome === null) errors.push({ field: "outcome", message: "Please choose: this answer decides." });
    } else if (!(id in answer.responses)) {
      errors.push({ field: `responses.${id}`, message: kind === "direct" ? "Please answer for both players." : "Please choose one." });
    }
  }
  const count = countChars(answer.reason);
  if (count < minChars) errors.push({ field: "reason", message: `Please write ${minChars - count} more character${minChars - count === 1 ? "" : "s"}.` });
  return errors;
}

/** What shows nothing though it counts as a letter, a sign or a mark: fillers, joiners, variation selectors. */
const BLANK = /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

/**
 * Characters one can see, as the server counts them: each once, space by the run, marks over a letter as one.
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
 * How long until an answer is accepted, as words on the button; empty when it is.
 * @param {number} seconds
 */
export function waitingWords(seconds) {
  const left = Math.ceil(seconds);
  return left > 0 ? `Submit in ${left} s` : "";
}
