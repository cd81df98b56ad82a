import asyncio
import mimetypes
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles

import upload
from settings import read_settings

at_end = AsyncExitStack()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with at_end:
        if settings.database_url is not None:
            await database.open_pool()
        yield


app = FastAPI(lifespan=lifespan)
app.include_router(upload.router)


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


@app.get("/", response_class=PlainTextResponse)
async def hello() -> str:
    return "Hello world!"


@app.get("/api/test", response_class=PlainTextResponse)
async def api_test() -> str:
    return "Hello, World!"


@app.post("/test")
async def receive(message: dict[str, Any]) -> dict[str, Any]:
    if delay:
        await delay.wait()
    return message | {"text": "received"}


@app.get("/test/status", response_class=PlainTextResponse)
async def status() -> str:
    return "OK"


@app.get("/test/labels/{label}", response_class=PlainTextResponse)
async def label(label: str) -> str:
    return label


@app.get("/framework")
async def framework() -> dict[str, str]:
    return {"Hello": "world"}


@app.get("/benchmark")
async def benchmark(
    count: Annotated[int, Query(ge=0, le=1_000_000)] = 10_000,
) -> list[str]:
    strings = [f"Index {i}" for i in range(count)]
    return strings[:10]


# What the environment asks for; of the rest not even the modules are loaded.
if settings.database_url is not None:
    import database
    import fortunes
    import items
    import worlds

    app.include_router(worlds.router)
    app.include_router(fortunes.router)
    app.include_router(items.router)
    at_end.push_async_callback(database.engine.dispose)
if settings.products is not None:
    import products

    app.include_router(products.router)
    app.mount("/compress", products.compressed)
if settings.folder_static is not None:
    mimetypes.add_type("font/woff2", ".woff2")
    mimetypes.add_type("image/webp", ".webp")
    app.mount("/static", StaticFiles(directory=settings.folder_static))
if settings.upstream_url is not None:
    import gateway

    app.include_router(gateway.router)
    at_end.push_async_callback(gateway.client.aclose)
