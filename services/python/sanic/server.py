import asyncio
import mimetypes
import re
import signal
import sys

import sanic
from sanic import HTTPResponse, Request, Sanic, json, text
from sanic.exceptions import BadRequest

import upload
from settings import Settings, read_settings, refuse_busy_port

app = Sanic("tare")
app.config.GRACEFUL_SHUTDOWN_TIMEOUT = 0.3
app.config.RESPONSE_TIMEOUT = 3600
app.blueprint(upload.blueprint)


class Delay:
    """Simulated handling time: at most `slots` messages are in it at once."""

    def __init__(self, slots: int, seconds: float) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._seconds = seconds

    async def wait(self) -> None:
        async with self._slots:
            await asyncio.sleep(self._seconds)


@app.before_server_start
async def prepare_delay(app: Sanic) -> None:
    settings: Settings = read_settings()
    seconds = settings.delay_ms / 1000
    app.ctx.delay = Delay(settings.slots, seconds) if seconds > 0 else None


@app.get("/")
async def hello(request: Request) -> HTTPResponse:
    return text("Hello world!")


@app.get("/api/test")
async def api_test(request: Request) -> HTTPResponse:
    return text("Hello, World!")


@app.post("/test")
async def receive(request: Request) -> HTTPResponse:
    message = request.json  # 400 where it is malformed, None where it is empty
    if not isinstance(message, dict):
        raise BadRequest("The body is not a JSON object")

    if app.ctx.delay:
        await app.ctx.delay.wait()
    message["text"] = "received"
    return json(message)


@app.get("/test/status")
async def status(request: Request) -> HTTPResponse:
    return text("OK")


@app.get("/test/labels/<label>")
async def label(request: Request, label: str) -> HTTPResponse:
    return text(label)


@app.get("/framework")
async def framework(request: Request) -> HTTPResponse:
    return json({"Hello": "world"})


@app.get("/benchmark")
async def benchmark(request: Request) -> HTTPResponse:
    count = request.args.get("count", "10000")
    if not re.fullmatch("[0-9]{1,7}", count) or int(count) > 1_000_000:
        raise BadRequest("count is an integer from 0 to 1000000")
    strings = [f"Index {i}" for i in range(int(count))]
    return json(strings[:10])


def add_configured_routes(settings: Settings) -> None:
    """What the environment asks for; of the rest not even the modules are loaded."""
    if settings.products is not None:
        import products

        app.blueprint(products.blueprint)
    if settings.folder_static is not None:
        mimetypes.add_type("font/woff2", ".woff2")
        mimetypes.add_type("image/webp", ".webp")
        app.static("/static", settings.folder_static)


if sys.argv[1:] != ["--version"]:
    add_configured_routes(read_settings())  # each worker imports this file anew


def tls_files(settings: Settings) -> dict[str, str] | None:
    if settings.tls_cert is None:
        return None
    return {"cert": settings.tls_cert, "key": settings.tls_key}


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(sanic.__version__)
        return

    settings = read_settings()
    refuse_busy_port(settings.serve_on, settings.port)
    if settings.workers > 1:
        # Inherited by the process that keeps the state of the workers: a SIGTERM to the
        # whole process group must not end it before them. Sanic sets its own handlers.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    app.run(
        host=str(settings.serve_on),
        port=settings.port,
        workers=settings.workers,
        single_process=settings.workers == 1,
        motd=False,
        ssl=tls_files(settings),
    )


if __name__ == "__main__":
    main()
