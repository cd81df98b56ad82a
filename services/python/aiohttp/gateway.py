"""Another HTTP server is asked, by the client of aiohttp."""

from collections.abc import AsyncIterator

from aiohttp import ClientSession, web

routes = web.RouteTableDef()

UPSTREAM = web.AppKey("UPSTREAM", ClientSession)


def add_upstream(app: web.Application, url: str) -> None:
    async def session(app: web.Application) -> AsyncIterator[None]:
        async with ClientSession(url) as app[UPSTREAM]:
            yield

    app.cleanup_ctx.append(session)


@routes.get("/gateway/{id:[0-9]+}")
async def gateway(request: web.Request) -> web.Response:
    path = f"/items/{request.match_info['id']}"
    async with request.app[UPSTREAM].get(path) as answer:
        if answer.status == 404:
            raise web.HTTPNotFound
        answer.raise_for_status()
        item = await answer.json()
    return web.json_response(item | {"via": "gateway"})
