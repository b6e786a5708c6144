// The last page of a study: hands the work in, or goes back to the platform, by itself after a few seconds. Without this
// script the button does it.

const SECONDS = 5;

const departure = /** @type {HTMLElement | null} */ (document.querySelector("[data-go]"));
const line = /** @type {HTMLElement | null} */ (document.querySelector("[data-countdown]"));
const stay = /** @type {HTMLElement | null} */ (document.querySelector("[data-stay]"));

/** Do what the button does. */
function go() {
  if (departure instanceof HTMLFormElement) departure.submit();
  else if (departure instanceof HTMLAnchorElement) location.href = departure.href;
}

if (departure && line && stay) {
  let left = SECONDS;
  const show = () => {
    line.textContent = `This happens automatically in ${left} second${left === 1 ? "" : "s"}.`;
  };
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) {
      show();
      return;
    }
    clearInterval(timer);
    line.textContent = "One moment ...";
    stay.hidden = true;
    go();
  }, 1000);
  stay.addEventListener("click", () => {
    clearInterval(timer);
    line.textContent = "Press the button when you are ready.";
    stay.hidden = true;
  });
  // Pressing the button must not be followed by a second departure.
  departure.addEventListener(departure instanceof HTMLFormElement ? "submit" : "click", () => clearInterval(timer));
  line.hidden = stay.hidden = false;
  show();
}
