// A teacher's page of a class: times in the time zone of the teacher, printing, and a question before what cannot be undone.

for (const time of document.querySelectorAll("time[data-local]")) {
  const at = new Date(/** @type {HTMLTimeElement} */ (time).dateTime);
  const isToday = at.toDateString() === new Date().toDateString();
  time.textContent = at.toLocaleString("en", isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

const printing = document.querySelector("[data-print]");
if (printing instanceof HTMLElement) {
  printing.hidden = false;
  printing.addEventListener("click", () => window.print());
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", (event) => {
    if (!confirm(/** @type {HTMLElement} */ (form).dataset.confirm)) event.preventDefault();
  });
}
