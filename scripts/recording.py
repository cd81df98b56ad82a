#!/usr/bin/env python3
"""Records a command as an animated SVG: its lines appear when they appeared, in a tenth of the time or less.

    scripts/recording.py docs/images/compare.svg -- tare compare 'node a.js' 'node b.js' --get /

It needs Python alone. Who prefers no motion sees the last picture.
"""

import html
import os
import re
import subprocess
import sys
import threading
import time

COLUMNS = 128
SECONDS_MAX = 8.0  # of the animation, before the last picture stays for as long again
LINE_PX, CHARACTER_PX, MARGIN_PX = 19, 8.4, 16
COLOURS = {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
LINK = re.compile(r"\x1b\]8;;.*?\x1b\\")
SGR = re.compile(r"\x1b\[([0-9;]*)m")


def record(words):
    """The lines of the command with the seconds after which each came, and how long it took."""
    environment = os.environ | {"CLICOLOR_FORCE": "1", "COLUMNS": str(COLUMNS)}
    began = time.monotonic()
    lines, lock = [], threading.Lock()
    here = os.getcwd() + "/"
    with subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:

        def read(stream):
            for line in stream:
                with lock:
                    text = LINK.sub("", line.rstrip("\n").replace("\t", "    ")).replace(here, "")
                    lines.append((time.monotonic() - began, text))

        readers = [threading.Thread(target=read, args=[stream]) for stream in (process.stdout, process.stderr)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    return lines, time.monotonic() - began


def spans(line):
    """The line as text elements of SVG, one for each colour."""
    style, parts, at = "", [], 0
    for found in [*SGR.finditer(line), None]:
        text = line[at : found.start() if found else len(line)]
        if text:
            parts.append(f"<tspan{style}>{html.escape(text)}</tspan>")
        if found:
            at = found.end()
            codes = [int(code or 0) for code in found[1].split(";")]
            colour = next((f' fill="{COLOURS[code]}"' for code in codes if code in COLOURS), "")
            style = colour + (' font-weight="bold"' if 1 in codes else "") + (' opacity="0.7"' if 2 in codes else "")
    return "".join(parts)


def wrapped(line):
    """The line in pieces that fit, broken at spaces; codes of colours have no width."""
    while len(SGR.sub("", line)) > COLUMNS:
        end, seen = 0, 0
        for found in re.finditer(SGR.pattern + r"|.", line):
            seen += not found[0].startswith("\x1b")
            if seen > COLUMNS:
                break
            end = found.start() if found[0] == " " else end
        if not end:
            break
        yield line[:end]
        line = line[end + 1 :]
    yield line


def svg(words, lines, took):
    prompt = "$ " + " ".join(f"'{word}'" if " " in word else word for word in words)
    scale = min(0.1, SECONDS_MAX / max(took, 0.1))
    shown = [(0.0, f"\x1b[1m{prompt}\x1b[0m")]
    shown += [(1.0 + after * scale, piece) for after, line in lines for piece in wrapped(line)]
    whole = 2 * max(shown[-1][0], 1.0)
    width = int(2 * MARGIN_PX + COLUMNS * CHARACTER_PX)
    height = 2 * MARGIN_PX + LINE_PX * len(shown)
    text, keyframes = [], []
    for number, (after, line) in enumerate(shown):
        share = 100 * after / whole
        keyframes.append(f"@keyframes l{number}{{0%,{share:.2f}%{{opacity:0}}{share + 0.01:.2f}%,100%{{opacity:1}}}}")
        y = MARGIN_PX + LINE_PX * (number + 0.8)
        animation = f"animation:l{number} {whole:.1f}s infinite" if number else ""
        text.append(f'<text x="{MARGIN_PX}" y="{y:.0f}" style="{animation}" xml:space="preserve">{spans(line)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
            f"<title>{html.escape(prompt)}</title>",
            "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3}",
            *keyframes,
            "@media (prefers-reduced-motion){text{animation:none!important}}</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *text,
            "</svg>\n",
        ]
    )


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    out, words = sys.argv[1], sys.argv[3:]
    lines, took = record(words)
    with open(out, "w", encoding="utf-8") as file:
        file.write(svg(words, lines, took))


main()
