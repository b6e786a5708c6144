// Light or dark: the system's choice until the visitor makes one. A classic script in the head, not a module, because it
// must run before the first paint: otherwise a dark page flashes white.
(() => {
  const KEY = "interplay.theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  /** @returns {string | null} what the visitor chose, if storage may be read at all */
  const chosen = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  };

  const apply = () => {
    const choice = chosen();
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
    else delete root.dataset.theme;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
      button.setAttribute("title", dark ? "Light colours" : "Dark colours");
    }
    return dark;
  };

  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", apply);
  addEventListener("storage", apply);
  addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("[data-theme-toggle]")) return;
    const wanted = apply() ? "light" : "dark";
    try {
      // To choose the system's own colours means: follow the system again.
      if ((wanted === "dark") === system.matches) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, wanted);
    } catch {
      root.dataset.theme = wanted;
      return;
    }
    apply();
  });
})();
