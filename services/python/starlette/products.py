from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from integers import integer
from settings import read_settings

products = read_settings().products


async def totals(request: Request) -> JSONResponse:
    count = integer("count", request.path_params["count"], 1, len(products))
    m = integer("m", request.query_params.get("m", ""), 1, 1_000_000)
    items: list[dict[str, Any]] = [
        {**product, "total": product["price"] * product["quantity"] * m}
        for product in products[:count]
    ]
    return JSONResponse({"items": items, "count": len(items)})


routes = [
    Route("/json/{count}", totals),
    Route(
        "/compress/{count}",
        totals,
        middleware=[Middleware(GZipMiddleware, minimum_size=200)],
    ),
]
