// The page of all pairs: a reader picks two services and reads what is known of them. Which pair is shown stands in the address,
// `vs/#axum,hyper`, in either order.

import { make } from "./dom.js";

export function askPair() {
  const ask = document.getElementById("ask");
  const known = [...document.querySelectorAll("#services option")];
  if (!ask || known.length === 0) return;
  const options = () => known.map((one) => make("option", { value: one.getAttribute("value") ?? "" }, one.textContent ?? ""));
  const [first, second] = ["First service", "Second service"].map((label) => make("select", { "aria-label": label }, ...options()));
  const told = make("p", { class: "lead", role: "status" });
  ask.append(first, " against ", second, told);
  ask.hidden = false;
  document.getElementById("all-pairs")?.setAttribute("hidden", "");

  const show = () => {
    const asked = document.getElementById(`${first.value},${second.value}`)?.closest(".pair");
    for (const pair of document.querySelectorAll(".pair")) pair.toggleAttribute("hidden", pair !== asked);
    told.textContent = asked ? "" : "No run has both of them in the same blocks.";
  };
  const recall = () => {
    const [one, other] = decoded(location.hash.slice(1)).split(",");
    const has = (/** @type {string|undefined} */ name) => known.some((option) => option.getAttribute("value") === name);
    if (has(one)) first.value = one;
    if (has(other)) second.value = other;
    else if (second.value === first.value) second.selectedIndex = first.selectedIndex === 0 ? 1 : 0;
    show();
  };
  for (const select of [first, second]) {
    select.addEventListener("change", () => {
      history.replaceState(null, "", `#${first.value},${second.value}`);
      show();
    });
  }
  addEventListener("hashchange", recall);
  recall();
}

/** One that is written wrongly leads nowhere. @param {string} hash */
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return "";
  }
}
