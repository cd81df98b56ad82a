"""`flask run`, the development server: its port from PORT, its end by SIGTERM."""

import logging
import signal
import sys
from importlib.metadata import version

from flask.cli import cli

from settings import read_settings, refuse_busy_port


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(version("flask"))
        return

    settings = read_settings()
    refuse_busy_port(settings.serve_on, settings.port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line per request
    arguments = ["run", "--host", str(settings.serve_on), "--port", str(settings.port)]
    if settings.tls_cert is not None:
        arguments += ["--cert", settings.tls_cert, "--key", settings.tls_key]
    cli.main(arguments)


if __name__ == "__main__":
    main()
