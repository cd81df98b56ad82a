// What a person would see at once: text over text, text cut off, a page wider than its window. By geometry, of all text that
// is visible. Gives a list of sentences.
const SLACK = 2;
const problems = [];
const name = element => {
    const of = element.closest("section[id], nav, header, footer, figure");
    const part = element.closest("section[id]");
    const where = [part && part.id, of && of !== part && (of.className || of.localName)].filter(Boolean).join(" ") || "page";
    return `${where}: ${JSON.stringify((element.textContent || "").trim().slice(0, 40))}`;
};
const scrolls = style => /auto|scroll/.test(style.overflowX + style.overflowY);
const clips = style => /hidden|clip/.test(style.overflowX + style.overflowY) || scrolls(style);

if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll("body *")].filter(element => {
        if (!element.checkVisibility() || element.getBoundingClientRect().right <= innerWidth + 1) return false;
        for (let up = element.parentElement; up; up = up.parentElement) if (clips(getComputedStyle(up))) return false;
        return true;
    });
    const widest = wide.slice(-3).map(element => `<${element.localName} class=${element.className}> ${name(element)}`);
    problems.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}: ${widest.join("; ")}`);
}

// What an element and its ancestors let through, remembered: most text has its ancestors in common.
const windows = new Map();
function windowOf(element) {
    if (!element || element === document.body) return { left: -1e9, top: -1e9, right: 1e9, bottom: 1e9 };
    let known = windows.get(element);
    if (!known) {
        known = windowOf(element.parentElement);
        if (clips(getComputedStyle(element))) known = meet(known, element.getBoundingClientRect());
        windows.set(element, known);
    }
    return known;
}
const meet = (one, other) => ({
    left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
});
function seen(rect, element) {
    const part = meet(rect, windowOf(element));
    return part.right - part.left > SLACK && part.bottom - part.top > SLACK ? part : null;
}

// Of a picture, which has no ellipsis of CSS: text beyond its edge, or beyond what its part of it lets through.
function picturesWindow(text) {
    const picture = text.ownerSVGElement;
    let part = picture.getBoundingClientRect();
    for (let up = text; up && up !== picture; up = up.parentElement) {
        const id = /url\(["']?#([^"')]+)/.exec(up.getAttribute("clip-path") || "");
        const shape = id && document.getElementById(id[1])?.firstElementChild;
        if (!shape) continue;
        const [box, by] = [shape.getBBox(), picture.getScreenCTM()];
        const [left, top] = [by.a * box.x + by.e, by.d * box.y + by.f];
        part = meet(part, { left, top, right: left + by.a * box.width, bottom: top + by.d * box.height });
    }
    return part;
}
for (const text of document.querySelectorAll("main svg text")) {
    if (!text.textContent.trim() || !text.checkVisibility()) continue;
    const [box, part] = [text.getBoundingClientRect(), picturesWindow(text)];
    const beyond = Math.max(part.left - box.left, part.top - box.top, box.right - part.right, box.bottom - part.bottom);
    if (beyond > SLACK) problems.push(`cut off in a chart: ${name(text)}, by ${Math.round(beyond)} pixels`);
}

const boxes = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || /^(script|style|noscript|title|option)$/i.test(element.localName)) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
        const box = seen(rect, element);
        if (box) boxes.push({ ...box, element, node });
    }
}
boxes.sort((a, b) => a.top - b.top);
const fixed = element => {
    for (let up = element; up; up = up.parentElement) if (/fixed|sticky/.test(getComputedStyle(up).position)) return true;
    return false;
};
for (let i = 0; i < boxes.length && problems.length < 20; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom - SLACK; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        if (a.node === b.node) continue;
        const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Lines of one paragraph may touch: a third of a line is an overlap.
        const least = Math.min(a.bottom - a.top, b.bottom - b.top) / 3;
        if (width > SLACK && height > least && fixed(a.element) === fixed(b.element)) {
            problems.push(`text over text: ${name(a.element)} and ${name(b.element)}`);
        }
    }
}

for (const element of document.querySelectorAll("body *:not(svg *)")) {
    if (problems.length >= 20) break;
    if (element.clientWidth <= 2 || !element.checkVisibility({ visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const wide = element.scrollWidth > element.clientWidth + SLACK;
    const tall = element.scrollHeight > element.clientHeight + SLACK;
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (/hidden|clip/.test(style.overflowX) && wide && style.textOverflow !== "ellipsis") {
        problems.push(`cut off at its side: ${name(element)}`);
    }
    if (/hidden|clip/.test(style.overflowY) && tall && hasText && style.webkitLineClamp === "none") {
        problems.push(`cut off below: ${name(element)}`);
    }
    if (/^(td|th|button|summary)$/.test(element.localName) && wide && style.overflowX === "visible") {
        problems.push(`wider than its <${element.localName}>: ${name(element)}`);
    }
}

// Bars of a column are compared by eye: each must have the same room.
for (const body of document.querySelectorAll("tbody")) {
    const columns = Map.groupBy(
        [...body.querySelectorAll(".ratio, .track")].filter(bar => bar.checkVisibility()), bar => bar.closest("td").cellIndex);
    for (const bars of columns.values()) {
        const rooms = bars.map(bar => bar.getBoundingClientRect());
        const differ = side => Math.max(...rooms.map(room => room[side])) - Math.min(...rooms.map(room => room[side]));
        if (differ("left") > 1 || differ("width") > 1) problems.push(`bars of one column by different scales: ${name(bars[0])}`);
    }
}
return problems;
