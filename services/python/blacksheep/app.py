import asyncio
from typing import Any

from blacksheep import Application, FromJSON, FromQuery, Response, get, json, post, text
from blacksheep.common.files.pathsutils import MIME_BY_EXTENSION
from blacksheep.exceptions import BadRequest
from blacksheep.server.files import get_default_extensions

import upload  # noqa: F401
from settings import read_settings

app = Application()


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


@get("/")
async def hello() -> Response:
    return text("Hello world!")


@get("/api/test")
async def api_test() -> Response:
    return text("Hello, World!")


@post("/test")
async def receive(data: FromJSON[dict[str, Any]]) -> Response:
    message = data.value
    if delay:
        await delay.wait()
    return json(message | {"text": "received"})


@get("/test/status")
async def status() -> Response:
    return text("OK")


@get("/test/labels/{label}")
async def label(label: str) -> Response:
    return text(label)


@get("/framework")
async def framework() -> Response:
    return json({"Hello": "world"})


@get("/benchmark")
async def benchmark(count: FromQuery[int] = FromQuery(10_000)) -> Response:
    if not 0 <= count.value <= 1_000_000:
        raise BadRequest("count is an integer from 0 to 1000000")
    strings = [f"Index {i}" for i in range(count.value)]
    return json(strings[:10])


# What the environment asks for; of the rest not even the modules are loaded.
if settings.products is not None:
    import products

    app.mount_registry.auto_events = True
    app.mount("/compress", products.compressed)
if settings.folder_static is not None:
    MIME_BY_EXTENSION[".webp"] = "image/webp"
    app.serve_files(
        settings.folder_static,
        root_path="static",
        extensions={*get_default_extensions(), ".json"},
    )
