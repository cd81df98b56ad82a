import time

import falcon
from falcon import Request, Response

from settings import read_settings
from upload import Upload

settings = read_settings()


class Text:
    """Answers one fixed line."""

    def __init__(self, line: str) -> None:
        self._line = line

    def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = self._line


class Messages:
    def on_post(self, req: Request, resp: Response) -> None:
        message = req.get_media()  # 400 where it is malformed or empty
        if not isinstance(message, dict):
            raise falcon.HTTPBadRequest(title="The body is not a JSON object")

        if settings.delay_ms:
            time.sleep(settings.delay_ms / 1000)
        resp.media = message | {"text": "received"}


class Labels:
    def on_get(self, req: Request, resp: Response, label: str) -> None:
        resp.content_type = falcon.MEDIA_TEXT
        resp.text = label


class Framework:
    def on_get(self, req: Request, resp: Response) -> None:
        resp.media = {"Hello": "world"}


class Benchmark:
    def on_get(self, req: Request, resp: Response) -> None:
        count = req.get_param_as_int(
            "count", min_value=0, max_value=1_000_000, default=10_000
        )
        strings = [f"Index {i}" for i in range(count)]
        resp.media = strings[:10]


app = falcon.App()
app.add_route("/", Text("Hello world!"))
app.add_route("/api/test", Text("Hello, World!"))
app.add_route("/test", Messages())
app.add_route("/test/status", Text("OK"))
app.add_route("/test/labels/{label}", Labels())
app.add_route("/framework", Framework())
app.add_route("/benchmark", Benchmark())
app.add_route("/upload", Upload())

# What the environment asks for; of the rest not even the modules are loaded.
if settings.products is not None:
    import products

    app.add_route(products.ROUTE, products.Totals())
