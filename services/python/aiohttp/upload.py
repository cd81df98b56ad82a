from aiohttp import web

from integers import integer

routes = web.RouteTableDef()


@routes.post("/upload")
async def upload(request: web.Request) -> web.Response:
    offset = integer("X-Offset", request.headers.get("X-Offset", ""), 0, 2**31)
    size = 0
    byte = None
    async for chunk in request.content.iter_any():
        if size <= offset < size + len(chunk):
            byte = chunk[offset - size]
        size += len(chunk)
    if byte is None:
        raise web.HTTPBadRequest(text="X-Offset is not below the length of the body")
    return web.json_response({"bytes": size, "byte": byte})
