"""What the program is told, by environment variables and by nothing else."""

import os
import re
import sys
from typing import NamedTuple


class Settings(NamedTuple):
    port: int
    threads: int
    delay_ms: int


def read_settings() -> Settings:
    return Settings(
        port=_integer("PORT", 1, 65535),
        threads=_integer("THREADS", 1, 1024, "1"),
        delay_ms=_integer("DELAY_MS", 0, 60000, "0"),
    )


def _integer(name: str, low: int, high: int, default: str = "") -> int:
    text = os.environ.get(name, default)
    if re.fullmatch("[0-9]{1,9}", text) and low <= int(text) <= high:
        return int(text)
    print(f"{name} must be an integer from {low} to {high}", file=sys.stderr)
    raise SystemExit(2)
