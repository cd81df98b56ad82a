// The list of sections: marks the one that is read, and opens the table that a link leads to.

import { parts } from "./address.js";
import { make } from "./dom.js";

/** @param {ParentNode} main @returns {() => void} What ends it. */
export function contents(main) {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.getAttribute("href")?.slice(1) ?? "", link]));
  const sections = [...main.querySelectorAll("section.part")];
  for (const section of sections) {
    const title = section.querySelector("h2");
    title?.append(make("a", { class: "anchor", href: `#${section.id}`, "aria-label": `Link to: ${title.textContent}` }, "#"));
  }
  /** @type {Set<Element>} */
  const seen = new Set();
  const mark = () => {
    const now = sections.find((section) => seen.has(section))?.id;
    for (const [id, link] of links) {
      if (id !== now) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) {
        link.setAttribute("aria-current", "true");
        // Along the list only: the page stays where it is.
        if (link instanceof HTMLElement) link.closest("ol")?.scrollTo({ left: link.offsetLeft - 40 });
      }
    }
    if (now === undefined && scrollY < 100) document.querySelector(".contents ol")?.scrollTo({ left: 0 });
  };
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target);
        else seen.delete(entry.target);
      }
      mark();
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  for (const section of sections) watch.observe(section);
  return () => watch.disconnect();
}

/** A link to what is folded opens it first, with all that it is in. */
export function openTarget() {
  const target = document.getElementById(parts(location.hash).id);
  let isFolded = false;
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement?.closest("details")) {
    isFolded ||= !fold.open;
    fold.open = true;
  }
  if (isFolded) target?.scrollIntoView();
}
