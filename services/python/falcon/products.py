from typing import Any

from falcon import Request, Response

from settings import read_settings

products = read_settings().products


class Totals:
    """The first products, each with a total."""

    def on_get(self, req: Request, resp: Response, count: int) -> None:
        m = req.get_param_as_int("m", required=True, min_value=1, max_value=1_000_000)
        items: list[dict[str, Any]] = [
            {**product, "total": product["price"] * product["quantity"] * m}
            for product in products[:count]
        ]
        resp.media = {"items": items, "count": len(items)}


class AsyncTotals:
    """The same as an ASGI resource."""

    async def on_get(self, req: Request, resp: Response, count: int) -> None:
        Totals().on_get(req, resp, count)


ROUTE = f"/json/{{count:int(min=1, max={len(products)})}}"
