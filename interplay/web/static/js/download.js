// The download of an episode's video: made when somebody asks for it, with a progress bar. Without this script the
// link asks for the video itself.

import { api, need } from "./page.js";

const ASK_MS = 500;

/**
 * The page's text while a video is being made.
 * @param {string} state
 * @param {number} share
 */
export function wordsOf(state, share) {
  if (state === "waiting") return "Waiting for other videos …";
  if (state === "held") return "Waiting while people play …";
  return `Making the video … ${Math.floor(100 * share)} %`;
}

/** @param {HTMLElement} root around the link, the bar, the words and the button that stops waiting */
export function followDownload(root) {
  /** @type {HTMLAnchorElement} */
  const link = need(root, "a");
  /** @type {HTMLProgressElement} */
  const bar = need(root, "progress");
  const words = need(root, "[role=status]");
  const making = need(root, "[data-making]");
  const film = link.pathname.replace(/video\.mp4$/, "film");
  let number = 0;

  /** @param {string} text */
  const end = (text) => {
    number++;
    making.hidden = true;
    link.hidden = false;
    words.textContent = text;
  };

  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const mine = ++number;
    link.hidden = true;
    making.hidden = false;
    bar.removeAttribute("value");
    words.textContent = "Requesting the video …";
    try {
      for (;;) {
        const { state, share } = await api(film, {});
        if (mine !== number) return;
        if (state === "failed") return end("The video could not be made. The server's log says why.");
        if (state === "made") break;
        words.textContent = wordsOf(state, share);
        if (share) bar.value = share;
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
        if (mine !== number) return;
      }
      end("");
      location.assign(link.href); // an attachment: the page stays
    } catch (error) {
      if (mine === number) end(`${/** @type {Error} */ (error).message}. Try again.`);
    }
  });
  need(root, "button").addEventListener("click", () => {
    end("");
    link.focus();
    api(film, undefined, { method: "DELETE" }).catch(() => {}); // then it is made all the same
  });
}

if (typeof document !== "undefined") {
  for (const root of document.querySelectorAll("[data-download]")) if (root instanceof HTMLElement) followDownload(root);
}
