// Pages of a server that are told of what is new: they ask for themselves again, and show that. Nobody is told while nobody
// looks: a browser has few connections to one server, and drawing takes CPU time that a measurement on this machine needs.

import { find, make } from "./dom.js";

/** @typedef {{ now: string, stage: string, left: string, share: number }} Progress */

/**
 * The page of a run that goes on.
 * @param {string} events Where they come from.
 * @param {(page: Document) => void} changed
 */
export function follow(events, changed) {
  const view = progressView();
  const ask = asking(changed);
  const end = listen(events, view.lost, {
    progress: (data) => view.show(JSON.parse(data)),
    document: ask,
    done: () => {
      end();
      view.end();
      ask();
    },
  });
}

/** The list of runs, where this page is that. */
export function followList() {
  const list = document.querySelector("#main [data-events]");
  if (!(list instanceof HTMLElement) || !list.dataset.events) return;
  const lost = make("p", { class: "lost", role: "status" });
  find(document, ".bar").append(lost);
  const tell = (/** @type {boolean} */ isLost) => lost.replaceChildren(isLost ? LOST : "");
  const ask = asking((page) => {
    const now = page.querySelector("#main > *");
    // Who goes through the list by keyboard stays where he is.
    const at = document.activeElement?.getAttribute("href");
    if (now) find(document, "#main").replaceChildren(document.adoptNode(now));
    for (const link of document.links) if (at && link.getAttribute("href") === at) link.focus();
  });
  listen(list.dataset.events, tell, { list: ask });
}

const LOST = "The server does not answer: this is what it said last.";

/**
 * Events by their names, as long as the page can be seen. When it can be seen again, what was missed is asked for.
 * @param {string} events
 * @param {(isLost: boolean) => void} lost
 * @param {Record<string, (data: string) => void>} hear
 * @returns {() => void} Ends it.
 */
function listen(events, lost, hear) {
  /** @type {EventSource|null} */
  let source = null;
  const open = () => {
    source = new EventSource(events);
    for (const [name, heard] of Object.entries(hear)) {
      source.addEventListener(name, (event) => heard(event.data));
    }
    source.addEventListener("open", () => lost(false));
    // It tries again by itself, unless it was refused.
    source.addEventListener("error", () => lost(true));
  };
  const look = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      open();
      hear.list?.("");
    }
  };
  document.addEventListener("visibilitychange", look);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", look);
    source?.close();
  };
}

/**
 * Asks for this page, one at a time: who asks meanwhile is answered by one more.
 * @param {(page: Document) => void} answered
 */
function asking(answered) {
  let [isAsking, again] = [false, false];
  const ask = async () => {
    again = isAsking;
    if (isAsking) return;
    isAsking = true;
    const page = await thisPage();
    try {
      if (page !== null) answered(new DOMParser().parseFromString(page, "text/html"));
    } finally {
      isAsking = false;
      if (again) ask();
    }
  };
  return ask;
}

/** None where the server has ended: what is shown stays true, and the browser goes on asking for events. */
async function thisPage() {
  try {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

/** How far the run is. A screen reader hears of each block, not of each slice. */
function progressView() {
  const bar = make("progress", { max: 1, "aria-label": "Share of the expected time that is over" });
  const stage = make("strong", { role: "status" });
  const left = make("span");
  const now = make("span", { class: "now" });
  const lost = make("span", { class: "lost", role: "status" });
  const view = make("div", { class: "live" }, bar, stage, left, now, lost);
  find(document, ".bar .tools").before(view);
  return {
    show: (/** @type {Progress} */ progress) => {
      bar.value = progress.share;
      for (const [element, text] of /** @type {[HTMLElement, string][]} */ ([
        [stage, progress.stage],
        [left, progress.left],
        [now, progress.now],
      ])) {
        // The same again would be said again.
        if (element.textContent !== text) element.textContent = text;
      }
    },
    lost: (/** @type {boolean} */ isLost) => lost.replaceChildren(isLost ? LOST : ""),
    end: () => view.replaceChildren(make("strong", { role: "status" }, "The run has ended")),
  };
}
