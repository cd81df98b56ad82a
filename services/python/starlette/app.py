import asyncio
import mimetypes
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

import upload
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


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("Hello world!")


async def api_test(request: Request) -> PlainTextResponse:
    return PlainTextResponse("Hello, World!")


async def receive(request: Request) -> JSONResponse:
    try:
        message = await request.json()
    except ValueError:
        raise HTTPException(400, "The body is not JSON") from None
    if not isinstance(message, dict):
        raise HTTPException(400, "The body is not a JSON object")

    if delay:
        await delay.wait()
    return JSONResponse(message | {"text": "received"})


async def status(request: Request) -> PlainTextResponse:
    return PlainTextResponse("OK")


async def label(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.path_params["label"])


async def framework(request: Request) -> JSONResponse:
    return JSONResponse({"Hello": "world"})


async def benchmark(request: Request) -> JSONResponse:
    count = request.query_params.get("count", "10000")
    if not re.fullmatch("[0-9]{1,7}", count) or int(count) > 1_000_000:
        raise HTTPException(400, "count is an integer from 0 to 1000000")
    strings = [f"Index {i}" for i in range(int(count))]
    return JSONResponse(strings[:10])


routes: list[BaseRoute] = [
    Route("/", hello),
    Route("/api/test", api_test),
    Route("/test", receive, methods=["POST"]),
    Route("/test/status", status),
    Route("/test/labels/{label}", label),
    Route("/framework", framework),
    Route("/benchmark", benchmark),
    *upload.routes,
]
at_end = AsyncExitStack()

# What the environment asks for; of the rest not even the modules are loaded.
if settings.database_url is not None:
    import database
    import fortunes
    import items
    import worlds

    routes += worlds.routes + fortunes.routes + items.routes
    at_end.push_async_callback(database.engine.dispose)
if settings.products is not None:
    import products

    routes += products.routes
if settings.folder_static is not None:
    mimetypes.add_type("font/woff2", ".woff2")
    mimetypes.add_type("image/webp", ".webp")
    routes.append(Mount("/static", StaticFiles(directory=settings.folder_static)))
if settings.upstream_url is not None:
    import gateway

    routes += gateway.routes
    at_end.push_async_callback(gateway.client.aclose)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with at_end:
        if settings.database_url is not None:
            await database.open_pool()
        yield


app = Starlette(routes=routes, lifespan=lifespan)
