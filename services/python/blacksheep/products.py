from blacksheep import Application, FromQuery, Response, Router, get, json
from blacksheep.exceptions import BadRequest
from blacksheep.server.compression import GzipMiddleware

from settings import read_settings

products = read_settings().products

# Middleware is for an application, hence one of its own for this route.
compressed = Application(router=Router())
compressed.middlewares.append(GzipMiddleware(min_size=200))


@get("/json/{int:count}")
@compressed.router.get("/{int:count}")
async def totals(count: int, m: FromQuery[int]) -> Response:
    if not 1 <= count <= len(products):
        raise BadRequest(f"count is an integer from 1 to {len(products)}")
    if not 1 <= m.value <= 1_000_000:
        raise BadRequest("m is an integer from 1 to 1000000")
    items = [
        {**product, "total": product["price"] * product["quantity"] * m.value}
        for product in products[:count]
    ]
    return json({"items": items, "count": len(items)})
