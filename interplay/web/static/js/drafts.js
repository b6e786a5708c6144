// Drafts of answers: this browser's copy, beside the server's.

const PREFIX = "interplay.draft.";

/** @typedef {{chosen: [string, string][], reason: string, viewing?: any, saved_at?: number}} Draft */

/**
 * A draft from a JSON value, or null if the value is no draft.
 * @param {any} value
 * @returns {Draft | null}
 */
export function asDraft(value) {
  if (!value || typeof value.reason !== "string" || !Array.isArray(value.chosen)) return null;
  const chosen = value.chosen.filter((/** @type {any} */ entry) => Array.isArray(entry) && entry.length === 2);
  return { chosen, reason: value.reason, viewing: value.viewing, saved_at: Number(value.saved_at) || 0 };
}

/**
 * The newer of two drafts: this browser's and the server's.
 * @param {Draft | null} here
 * @param {Draft | null} there
 */
export function newerDraft(here, there) {
  if (!here || !there) return here ?? there;
  return (there.saved_at ?? 0) > (here.saved_at ?? 0) ? there : here;
}

/** Ids of the matches this browser keeps drafts of; a page in a frame may be refused even the question. */
export function kept() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/**
 * Save a draft in this browser, if it allows that.
 * @param {string} match
 * @param {Draft} draft
 */
export function keep(match, draft) {
  try {
    localStorage.setItem(PREFIX + match, JSON.stringify(draft));
  } catch {
    // Some browsers save nothing for a page in a frame. The server has the draft.
  }
}

/**
 * This browser's draft for a match.
 * @param {string} match
 * @returns {Draft | null}
 */
export function recall(match) {
  try {
    return asDraft(JSON.parse(localStorage.getItem(PREFIX + match) ?? "null"));
  } catch {
    return null; // there is no draft, or another version of this page saved it
  }
}

/** @param {string} match */
export function forget(match) {
  try {
    localStorage.removeItem(PREFIX + match);
  } catch {
    // There was no draft.
  }
}
