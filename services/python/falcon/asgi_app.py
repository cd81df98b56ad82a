import asyncio

import falcon
import falcon.asgi
from falcon.asgi import Request, Response

from settings import read_settings
from upload import AsyncUpload


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


class Text:
    """Answers one fixed line."""

    def __init__(self, line: str) -> None:
        self._line = line

    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = self._line


class Messages:
    async def on_post(self, req: Request, resp: Response) -> None:
        message = await req.get_media()  # 400 where it is malformed or empty
        if not isinstance(message, dict):
            raise falcon.HTTPBadRequest(title="The body is not a JSON object")

        if delay:
            await delay.wait()
        resp.media = message | {"text": "received"}


class Labels:
    async def on_get(self, req: Request, resp: Response, label: str) -> None:
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = label


class Framework:
    async def on_get(self, req: Request, resp: Response) -> None:
        resp.media = {"Hello": "world"}


class Benchmark:
    async def on_get(self, req: Request, resp: Response) -> None:
        count = req.get_param_as_int(
            "count", min_value=0, max_value=1_000_000, default=10_000
        )
        strings = [f"Index {i}" for i in range(count)]
        resp.media = strings[:10]


app = falcon.asgi.App()
app.add_route("/", Text("Hello world!"))
app.add_route("/api/test", Text("Hello, World!"))
app.add_route("/test", Messages())
app.add_route("/test/status", Text("OK"))
app.add_route("/test/labels/{label}", Labels())
app.add_route("/framework", Framework())
app.add_route("/benchmark", Benchmark())
app.add_route("/upload", AsyncUpload())

# What the environment asks for; of the rest not even the modules are loaded.
if settings.products is not None:
    import products

    app.add_route(products.ROUTE, products.AsyncTotals())
