#!/usr/bin/env python3
"""Plants slowdowns in servers of seven languages and asks tare why: is the planted function named?

Each server is compared with itself, once with PLANT=what and once without. How often the planted work runs is
chosen before, so that it costs about SHARE of a request. A line is printed for each comparison, with what was
named, and at the end how many were right.

    dev/planted/run.py target/release/tare                    each of the 20 planted slowdowns, once
    dev/planted/run.py target/release/tare --same 5           each server five times with itself: nothing may be named
    dev/planted/run.py target/release/tare --only go-regex
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What is built, and how each server is started.
BUILDS = {
    "cpp": (["g++", "-O2", "-g", "-std=c++20", "-o", "server-cpp", "server.cpp"], "./server-cpp"),
    "rust": (["rustc", "-O", "-g", "--edition=2021", "-o", "server-rust", "server.rs"], "./server-rust"),
    "go": (["go", "build", "-o", "server-go", "server.go"], "./server-go"),
    "java": (["javac", "-d", "java", "Server.java"], "java -cp java Server"),
    "node": (None, "node server.js"),
    "python": (None, f"{os.environ.get('PYTHON', 'python3')} server.py"),
    "csharp": (["dotnet", "publish", "-c", "Release", "-o", "published", "csharp"], "dotnet published/server.dll"),
}
PLANTS = [
    "cpp-loop", "cpp-regex", "cpp-call", "cpp-log",
    "rust-loop", "rust-allocate", "rust-call",
    "go-json", "go-regex", "go-lock",
    "java-loop", "java-regex", "java-allocate",
    "node-json", "node-regex", "node-log",
    "python-json", "python-regex",
    "csharp-json", "csharp-loop",
]  # fmt: skip


def cpu_ns(pid):
    """CPU time of a process and of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def request_ns(tare, folder, command, plant, times):
    """CPU time of a request, after a warm-up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "PORT": str(port), "PLANT": plant, "TIMES": str(times)}
    server = subprocess.Popen(command.split(), cwd=folder, env=env, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        load = [tare, "load", f"http://127.0.0.1:{port}/", "-c", "16", "--json", "--duration"]
        # A doubtful measurement (4) will do: the server's CPU time is what counts.
        subprocess.run([*load, "3s"], capture_output=True)
        before = cpu_ns(server.pid)
        ended = subprocess.run([*load, "2s"], capture_output=True)
        return (cpu_ns(server.pid) - before) / json.loads(ended.stdout)["totals"]["answered"]
    finally:
        server.kill()
        server.wait()


def times_for(tare, folder, command, plant, share):
    """How often the planted work must run to cost this share of a request."""
    plain, times = request_ns(tare, folder, command, "", 0), 1
    while True:
        more = request_ns(tare, folder, command, plant, times) - plain
        # A large difference, so that noise has a small part of it.
        if more > 2 * plain or times >= 1 << 20:
            return max(1, round(times * share * plain / max(more, 1)))
        times *= 8


def why(tare, folder, command, plant, times):
    """The report of `tare why`, and how long it took."""
    planted = f"env PLANT={plant} TIMES={times} {command}"
    began = time.monotonic()
    words = [tare, "why", command if plant else f"env {command}", planted if plant else command, "--get", "/", "--json"]
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        return {"error": ended.stderr.strip().splitlines()[-1]}, time.monotonic() - began
    return json.loads(ended.stdout), time.monotonic() - began


def named(report):
    """The first three functions of the answer and of its lines."""
    functions = report.get("functions", [])
    places = report.get("answer", []) + [line["function"] for line in report.get("lines", [])]
    return [functions[place]["name"] for place in dict.fromkeys(places)][:3]


def said(report):
    """What the report says of the whole."""
    if "error" in report or report.get("withheld"):
        return report.get("error") or report["withheld"]
    whole, cost = report["difference"], report["sampling_cost"] or {"mean": 0, "low": 0, "high": 0}
    base = report["subjects"][0]["cpu_ns"]
    return "{:.0f} ns {:+.1%} ({:+.1%} .. {:+.1%}), sampling {:+.1%} ({:+.1%} .. {:+.1%})".format(
        base, *(whole[of] / base for of in ("mean", "low", "high")), *(cost[of] for of in ("mean", "low", "high"))
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--share", type=float, default=0.08, help="what is planted, of a request's CPU time")
    parser.add_argument("--same", type=int, default=0, help="compare each server with itself this often instead")
    parser.add_argument("--only", action="append", help="one of the planted slowdowns, or a language")
    words = parser.parse_args()
    plants = [f"{language}-" for language in BUILDS] * words.same if words.same else PLANTS
    wanted = [one for one in plants if not words.only or one in words.only or one.split("-")[0] in words.only]
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE, folder, dirs_exist_ok=True)
        for language in dict.fromkeys(one.split("-")[0] for one in wanted):
            if BUILDS[language][0]:
                subprocess.run(BUILDS[language][0], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for one in wanted:
            language, plant = one.split("-")
            command = BUILDS[language][1]
            times = times_for(words.tare, folder, command, plant, words.share) if plant else 0
            report, seconds = why(words.tare, folder, command, plant, times)
            found = named(report)
            # A runtime may compile the function into its caller; what it calls is then the cause.
            is_named = any("planted" in name.lower() or plant in name.lower() for name in found)
            is_right = is_named if plant else not report.get("answer")
            right += is_right
            print(f"{'right' if is_right else 'WRONG'} {one} x{times} {seconds:.0f} s: {said(report)}: {found}", flush=True)
    print(f"{right} of {len(wanted)} right")
    return 0 if right == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
