import asyncio
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.responses import PlainTextResponse

from settings import read_settings

app = FastAPI()


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
