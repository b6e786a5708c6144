// Small helpers every page's script uses.

/**
 * The one element that the page must have.
 * @template {Element} [T=HTMLElement]
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {T}
 */
export function need(root, selector) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`this page lacks ${selector}`);
  return /** @type {T} */ (/** @type {unknown} */ (found));
}

/** An answer of the server that is not 2xx. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{message?: string, error?: string, next?: string, retry_after_s?: number, errors?: {field: string, message: string}[]}} body
   */
  constructor(status, body) {
    super(body.message ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The header that says whose part in a study this page is of; none on other pages. @returns {Record<string, string>} */
export function partHeaders() {
  const token = /** @type {HTMLElement | null} */ (document.querySelector("[data-enrolment]"))?.dataset.enrolment;
  return token ? { "Interplay-Enrolment": token } : {};
}

/**
 * Call the server's JSON API, in the name of the participant who works in a study on this page.
 * @param {string} address
 * @param {unknown} [body] sent as JSON by POST; without it, GET
 * @param {RequestInit} [more] other headers and options
 * @returns {Promise<any>}
 */
export async function api(address, body, more = {}) {
  const headers = { ...partHeaders(), ...more.headers };
  const options = body === undefined ? { ...more, headers } : { ...more, method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(address, options);
  const text = await response.text();
  let document = {};
  try {
    document = text ? JSON.parse(text) : {};
  } catch {
    // Not JSON: a proxy's page, perhaps. The status is enough.
  }
  if (!response.ok) throw new ApiError(response.status, document);
  return document;
}

/** Whether a key press belongs to the element that has the focus rather than to the page. @param {EventTarget | null} target */
export function isTyping(target) {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "range");
}
