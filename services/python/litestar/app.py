import asyncio
import mimetypes
from typing import Annotated, Any

from litestar import Litestar, MediaType, get, post
from litestar.params import Parameter
from litestar.static_files import create_static_files_router
from litestar.types import ControllerRouterHandler

from settings import read_settings
from upload import upload


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


@get("/", media_type=MediaType.TEXT)
async def hello() -> str:
    return "Hello world!"


@get("/api/test", media_type=MediaType.TEXT)
async def api_test() -> str:
    return "Hello, World!"


@post("/test", status_code=200)
async def receive(data: dict[str, Any]) -> dict[str, Any]:
    if delay:
        await delay.wait()
    return data | {"text": "received"}


@get("/test/status", media_type=MediaType.TEXT)
async def status() -> str:
    return "OK"


@get("/test/labels/{label:str}", media_type=MediaType.TEXT)
async def label(label: str) -> str:
    return label


@get("/framework")
async def framework() -> dict[str, str]:
    return {"Hello": "world"}


@get("/benchmark")
async def benchmark(
    count: Annotated[int, Parameter(ge=0, le=1_000_000)] = 10_000,
) -> list[str]:
    strings = [f"Index {i}" for i in range(count)]
    return strings[:10]


routes: list[ControllerRouterHandler] = [
    hello,
    api_test,
    receive,
    status,
    label,
    framework,
    benchmark,
    upload,
]

# What the environment asks for; of the rest not even the modules are loaded.
if settings.products is not None:
    import products

    routes += [products.plain, products.compressed]
if settings.folder_static is not None:
    mimetypes.add_type("font/woff2", ".woff2")
    mimetypes.add_type("image/webp", ".webp")
    routes.append(
        create_static_files_router("/static", directories=[settings.folder_static])
    )

app = Litestar(routes)
