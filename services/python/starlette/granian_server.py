"""granian: its port from PORT, its workers from THREADS."""

from pathlib import Path

from granian import Granian
from granian.constants import Interfaces
from granian.http import HTTP1Settings

from settings import read_settings, refuse_busy_port


def main() -> None:
    settings = read_settings()
    refuse_busy_port(settings.serve_on, settings.port)
    Granian(
        "app:app",
        address=str(settings.serve_on),
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        workers_kill_timeout=0.5,
        http1_settings=HTTP1Settings(header_read_timeout=120_000),
        ssl_cert=settings.tls_cert and Path(settings.tls_cert),
        ssl_key=settings.tls_key and Path(settings.tls_key),
    ).serve()


if __name__ == "__main__":
    main()
