// The judging form: built from a match's questions, read back as the server wants it, kept as a draft.

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

/**
 * Characters as the server counts them: spaces around left out, each character once.
 * @param {string} text
 */
export function countChars(text) {
  return [...text.trim()].length;
}
