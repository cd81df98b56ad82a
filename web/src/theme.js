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

/** A button that says how it is, and goes on from the system's scheme to the other one, to the system's as a choice, and back. */
export function themeButton() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const next = () => {
    const [same, other] = system.matches ? ["dark", "light"] : ["light", "dark"];
    if (root.dataset.theme === undefined) return other;
    return root.dataset.theme === other ? same : "system";
  };
  const control = button("", () => {
    const theme = next();
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    remember(theme);
    refresh();
  }, { id: "theme" });
  const refresh = () => {
    control.textContent = `Colours: ${root.dataset.theme ?? "system"}`;
    control.title = `Next: ${next()}`;
  };
  system.addEventListener("change", refresh);
  refresh();
  return control;
}
