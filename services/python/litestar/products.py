from typing import Annotated, Any

from litestar import get
from litestar.config.compression import CompressionConfig
from litestar.middleware import DefineMiddleware
from litestar.middleware.compression import CompressionMiddleware
from litestar.params import Parameter

from settings import read_settings

products = read_settings().products


async def totals(
    count: Annotated[int, Parameter(ge=1, le=len(products))],
    m: Annotated[int, Parameter(ge=1, le=1_000_000)],
) -> dict[str, Any]:
    items = [
        {**product, "total": product["price"] * product["quantity"] * m}
        for product in products[:count]
    ]
    return {"items": items, "count": len(items)}


plain = get("/json/{count:int}")(totals)
compressed = get(
    "/compress/{count:int}",
    middleware=[
        DefineMiddleware(
            CompressionMiddleware,
            config=CompressionConfig(backend="brotli", minimum_size=200),
        )
    ],
)(totals)
