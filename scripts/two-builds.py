"""Two builds of the command side by side: the CPU time per request of the generator and of the raw socket, in interleaved rounds.

    python3 scripts/two-builds.py target/release/tare target/x86_64-unknown-linux-musl/release/tare [ROUNDS]

In each round each build runs each case once, in random order: its own raw socket on CPU 1, its own generator on CPU 0, which sleeps
between answers. CPU time is what the kernel charged, so a busy machine moves it little; it still disturbs caches. Printed is the
median of each, and the median of the ratios of rounds (second build to the first) with the 95% interval of that median, by order
statistics, and the range.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PORT = 18955
# Name, arguments of the raw socket, arguments of the generator, requests.
CASES = [
    ("http/1.1, 12 bytes", [], [], 200_000),
    ("http/1.1, 100 KiB", ["--contract", "./large.toml"], [], 20_000),
    ("TLS, 12 bytes", ["TLS"], ["-k"], 100_000),
    ("TLS, 100 KiB", ["TLS", "--contract", "./large.toml"], ["-k"], 10_000),
    ("h2c, 12 bytes, 32 streams", ["--protocol", "h2c"], ["--h2c", "-m", "32"], 400_000),
]
LARGE = """format = "1.1"
name = "large"
title = "GET / answers 100 KiB"
protocols = ["http/1.1", "h2", "h2c"]
tls = true

[[request]]
name = "large"
method = "GET"
path = "/"
[request.response]
status = 200
body = "{}"
"""


def main() -> None:
    builds = [str(Path(path).resolve()) for path in sys.argv[1:3]]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("large.toml").write_text(LARGE.format("0123456789abcdef" * 6400))
        certificate = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
        subprocess.run([*certificate.split(), "-keyout", "key.pem", "-out", "cert.pem"], check=True, capture_output=True)
        for case in CASES:
            values = {build: [] for build in builds}
            for _ in range(rounds):
                for build in random.sample(builds, 2):
                    values[build].append(measured(build, *case[1:]))
            for index, who in enumerate(("generator", "raw socket")):
                first, second = ([value[index] for value in values[build]] for build in builds)
                report(case[0], who, first, second)


def measured(build: str, server: list, generator: list, requests: int) -> tuple:
    tls = "TLS" in server
    words = [word for word in server if word != "TLS"] + (["--tls-cert", "cert.pem", "--tls-key", "key.pem"] if tls else [])
    running = subprocess.Popen(["taskset", "-c", "1", build, "raw-socket", "--port", str(PORT), *words], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.4)
        scheme = "https" if tls else "http"
        load = [build, "load", "-n", str(requests), "--cpus", "0", "--spin", "0", "--json", *generator, f"{scheme}://127.0.0.1:{PORT}/"]
        before = charged(running.pid)
        done = subprocess.run(load, capture_output=True, text=True, timeout=300)
        spent = charged(running.pid) - before
        if done.returncode not in (0, 4):
            sys.exit(done.stderr)
        document = json.loads(done.stdout)
        answered = document["totals"]["answered"]
        return document["generator"]["cpu_ns"] / answered, spent / answered
    finally:
        running.terminate()
        running.wait()


def charged(pid: int) -> int:
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def report(case: str, who: str, first: list, second: list) -> None:
    ratios = sorted(b / a for a, b in zip(first, second))
    low, high = interval(ratios)
    print(
        f"{case:26} {who:10}  {statistics.median(first) / 1e3:8.2f} µs  {statistics.median(second) / 1e3:8.2f} µs  "
        f"{statistics.median(ratios):.3f} ({low:.3f} .. {high:.3f}), range {ratios[0]:.3f} .. {ratios[-1]:.3f}, n = {len(ratios)}",
        flush=True,
    )


def interval(values: list) -> tuple:
    """Order statistics that hold the median with at least 95%, or the range if there are fewer than six."""
    n, below, rank = len(values), 0.0, 0
    chances = [1.0]
    for k in range(n):
        chances.append(chances[-1] * (n - k) / (k + 1))
    while rank < n // 2 and below + chances[rank] / 2**n <= 0.025:
        below += chances[rank] / 2**n
        rank += 1
    rank = max(rank - 1, 0)
    return values[rank], values[n - 1 - rank]


if __name__ == "__main__":
    main()
