// The last page of a study: submits the work or returns to the platform, by itself after a few seconds. Without this
// script the participant presses the button.

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
  // After a press on the button the page must not leave a second time.
  departure.addEventListener(departure instanceof HTMLFormElement ? "submit" : "click", () => clearInterval(timer));
  line.hidden = stay.hidden = false;
  show();
}
