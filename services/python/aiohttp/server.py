import asyncio
import re
import ssl
import sys

import aiohttp
import uvloop
from aiohttp import web
from aiohttp.web_fileresponse import CONTENT_TYPES

import upload
from settings import Settings, read_settings

routes = web.RouteTableDef()


class Delay:
    """Simulated handling time: at most `slots` messages are in it at once."""

    def __init__(self, slots: int, seconds: float) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._seconds = seconds

    async def wait(self) -> None:
        async with self._slots:
            await asyncio.sleep(self._seconds)


DELAY = web.AppKey("DELAY", Delay)


@routes.get("/")
async def hello(request: web.Request) -> web.Response:
    return web.Response(text="Hello world!")


@routes.get("/api/test")
async def api_test(request: web.Request) -> web.Response:
    return web.Response(text="Hello, World!")


@routes.post("/test")
async def receive(request: web.Request) -> web.Response:
    try:
        message = await request.json()
    except ValueError:
        raise web.HTTPBadRequest(text="The body is not JSON") from None
    if not isinstance(message, dict):
        raise web.HTTPBadRequest(text="The body is not a JSON object")

    if DELAY in request.app:
        await request.app[DELAY].wait()
    message["text"] = "received"
    return web.json_response(message)


@routes.get("/test/status")
async def status(request: web.Request) -> web.Response:
    return web.Response(text="OK")


@routes.get("/test/labels/{label}")
async def label(request: web.Request) -> web.Response:
    return web.Response(text=request.match_info["label"])


@routes.get("/framework")
async def framework(request: web.Request) -> web.Response:
    return web.json_response({"Hello": "world"})


@routes.get("/benchmark")
async def benchmark(request: web.Request) -> web.Response:
    count = request.query.get("count", "10000")
    if not re.fullmatch("[0-9]{1,7}", count) or int(count) > 1_000_000:
        raise web.HTTPBadRequest(text="count is an integer from 0 to 1000000")
    strings = [f"Index {i}" for i in range(int(count))]
    return web.json_response(strings[:10])


def add_configured_routes(app: web.Application, settings: Settings) -> None:
    """What the environment asks for; of the rest not even the modules are loaded."""
    if settings.database_url is not None:
        import database
        import fortunes
        import items
        import worlds

        database.add_database(app, settings)
        fortunes.add_templates(app)
        app.add_routes(worlds.routes)
        app.add_routes(fortunes.routes)
        app.add_routes(items.routes)
    if settings.products is not None:
        import products

        app[products.PRODUCTS] = settings.products
        app.add_routes(products.routes)
    if settings.folder_static is not None:
        CONTENT_TYPES.add_type("font/woff2", ".woff2")
        CONTENT_TYPES.add_type("image/webp", ".webp")
        app.router.add_static("/static/", settings.folder_static)
    if settings.upstream_url is not None:
        import gateway

        gateway.add_upstream(app, settings.upstream_url)
        app.add_routes(gateway.routes)


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    if settings.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(settings.tls_cert, settings.tls_key)
    return context


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(aiohttp.__version__)
        return

    settings = read_settings()
    app = web.Application()
    app.add_routes(routes)
    app.add_routes(upload.routes)
    add_configured_routes(app, settings)
    if settings.delay_ms > 0:
        app[DELAY] = Delay(settings.threads, settings.delay_ms / 1000)

    try:
        web.run_app(
            app,
            host=str(settings.serve_on),
            port=settings.port,
            loop=uvloop.new_event_loop(),
            access_log=None,
            keepalive_timeout=120,
            shutdown_timeout=0.3,
            ssl_context=tls_context(settings),
        )
    except OSError as error:
        sys.exit(error.strerror)


if __name__ == "__main__":
    main()
