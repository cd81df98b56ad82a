"""uvicorn: its port from PORT, its workers from THREADS, its end by SIGTERM."""

import signal
import sys
from importlib.metadata import version

import uvicorn

from settings import read_settings, refuse_busy_port


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(version("starlette"))
        return

    settings = read_settings()
    refuse_busy_port(settings.serve_on, settings.port)
    # uvicorn raises the signal again once it has shut down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.run(
        "app:app",
        host=str(settings.serve_on),
        port=settings.port,
        workers=settings.workers,
        access_log=False,
        log_level="critical",
        timeout_keep_alive=120,
        timeout_graceful_shutdown=0,
        timeout_worker_healthcheck=3600,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
    )


if __name__ == "__main__":
    main()
