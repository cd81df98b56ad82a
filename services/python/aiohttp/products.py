from typing import Any

from aiohttp import web

from integers import integer

routes = web.RouteTableDef()

PRODUCTS = web.AppKey("PRODUCTS", list[dict[str, Any]])


@routes.get("/json/{count}")
async def plain(request: web.Request) -> web.Response:
    return web.json_response(totals(request))


@routes.get("/compress/{count}")
async def compressed(request: web.Request) -> web.Response:
    response = web.json_response(totals(request))
    response.enable_compression()  # as the request's Accept-Encoding has it
    return response


def totals(request: web.Request) -> dict[str, Any]:
    products = request.app[PRODUCTS]
    count = integer("count", request.match_info["count"], 1, len(products))
    m = integer("m", request.query.get("m", ""), 1, 1_000_000)
    items = [
        {**product, "total": product["price"] * product["quantity"] * m}
        for product in products[:count]
    ]
    return {"items": items, "count": len(items)}
