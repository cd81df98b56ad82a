import re

from sanic import Blueprint, HTTPResponse, Request, json
from sanic.exceptions import BadRequest

from settings import read_settings

blueprint = Blueprint("products")
products = read_settings().products


@blueprint.get("/json/<count:int>")
async def totals(request: Request, count: int) -> HTTPResponse:
    m = request.args.get("m", "")
    if not re.fullmatch("[0-9]{1,7}", m) or not 1 <= int(m) <= 1_000_000:
        raise BadRequest("m is an integer from 1 to 1000000")
    if not 1 <= count <= len(products):
        raise BadRequest(f"count is an integer from 1 to {len(products)}")
    items = [
        {**product, "total": product["price"] * product["quantity"] * int(m)}
        for product in products[:count]
    ]
    return json({"items": items, "count": len(items)})
