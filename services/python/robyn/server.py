"""Robyn's own server: its port from PORT, its end by SIGTERM."""

import signal
import sys
from importlib.metadata import version

from settings import read_settings, refuse_busy_port


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(version("robyn"))
        return

    settings = read_settings()
    refuse_busy_port(settings.serve_on, settings.port)

    from app import app

    # With one process Robyn has a handler for SIGINT alone; this is the same one.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app.start(str(settings.serve_on), settings.port, keep_alive_timeout=120)


if __name__ == "__main__":
    main()
