import asyncio
import re
from typing import Any

from robyn import Headers, Request, Response, Robyn
from robyn.argument_parser import Config

from settings import read_settings


class Delay:
    """Simulated handling time: at most `slots` messages are in it at once."""

    def __init__(self, slots: int, seconds: float) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._seconds = seconds

    async def wait(self) -> None:
        async with self._slots:
            await asyncio.sleep(self._seconds)


settings = read_settings()
delay = Delay(settings.slots, settings.delay_ms / 1000) if settings.delay_ms else None

config = Config()
config.processes = settings.workers
config.log_level = "WARN"
app = Robyn(__file__, config)


def text(body: str, status: int = 200) -> Response:
    headers = Headers({"Content-Type": "text/plain; charset=utf-8"})
    return Response(status, headers, body)


@app.get("/")
async def hello() -> Response:
    return text("Hello world!")


@app.get("/api/test")
async def api_test() -> Response:
    return text("Hello, World!")


@app.post("/test")
async def receive(request: Request) -> dict[str, Any] | Response:
    try:
        message = request.json()
    except ValueError:
        return text("The body is not JSON", 400)
    if not isinstance(message, dict):
        return text("The body is not a JSON object", 400)

    if delay:
        await delay.wait()
    return message | {"text": "received"}


@app.get("/test/status")
async def status() -> Response:
    return text("OK")


@app.get("/test/labels/:label")
async def label(request: Request) -> Response:
    return text(request.path_params["label"])


@app.get("/framework")
async def framework() -> dict[str, str]:
    return {"Hello": "world"}


@app.get("/benchmark")
async def benchmark(request: Request) -> list[str] | Response:
    count = request.query_params.get("count", "10000")
    if not re.fullmatch("[0-9]{1,7}", count) or int(count) > 1_000_000:
        return text("count is an integer from 0 to 1000000", 400)
    strings = [f"Index {i}" for i in range(int(count))]
    return strings[:10]
