// Light or dark: as the system says, until the reader says otherwise.

import { button } from "./dom.js";

const KEY = "tare-theme";

/** A page from disk may have no storage, or share it: then a choice lasts as long as the page. */
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It stays what it is in this page.
  }
}

/** @returns {HTMLButtonElement} */
export function themeButton() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const control = button("", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    refresh();
  }, { id: "theme" });
  const refresh = () => {
    control.textContent = "Dark";
    control.setAttribute("aria-pressed", String(isDark()));
  };
  system.addEventListener("change", refresh);
  refresh();
  return control;
}
