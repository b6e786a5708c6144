// The form for problems and ideas, in a dialog over the page. Without this script the link opens it as a page.

import { need, partHeaders } from "./page.js";

/** What the page of the answer says is wrong; empty if it was sent. @param {Document} answer */
export function problemIn(answer) {
  return answer.querySelector("[data-problem]")?.textContent ?? "";
}

/**
 * @param {HTMLAnchorElement} link
 * @param {HTMLDialogElement} dialog
 */
export function openInDialog(link, dialog) {
  const form = /** @type {HTMLFormElement} */ (need(dialog, "form"));
  const said = need(dialog, "[data-feedback-said]");
  const send = /** @type {HTMLButtonElement} */ (need(dialog, "[data-feedback-send]"));
  let episode = "";
  document.addEventListener("interplay:ended", (event) => {
    episode = event instanceof CustomEvent ? (event.detail.episode ?? "") : "";
  });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    said.textContent = "";
    document.dispatchEvent(new CustomEvent("interplay:asking"));
    dialog.showModal();
    need(form, "textarea").focus();
  });
  need(dialog, "[data-feedback-close]").addEventListener("click", () => dialog.close());
  // While somebody writes, the game takes no keys.
  for (const name of ["keydown", "keyup"]) dialog.addEventListener(name, (event) => event.stopPropagation());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    const fields = new URLSearchParams(/** @type {any} */ (new FormData(form)));
    fields.set("page", link.dataset.page ?? "");
    fields.set("episode", episode);
    try {
      const response = await fetch("/feedback", { method: "POST", headers: partHeaders(), body: fields });
      const problem = problemIn(new DOMParser().parseFromString(await response.text(), "text/html"));
      said.textContent = problem || (response.ok ? "Thank you. It was sent." : "The server could not keep it. Please try again.");
      if (response.ok && !problem) form.reset();
    } catch {
      said.textContent = "The server cannot be reached. Your words are still here; please try again.";
    }
    send.disabled = false;
  });
}

if (globalThis.document) {
  const link = document.querySelector("[data-feedback]");
  const dialog = document.querySelector("[data-feedback-dialog]");
  if (link instanceof HTMLAnchorElement && dialog instanceof HTMLDialogElement) openInDialog(link, dialog);
}
