from flask import Blueprint, request

from integers import integer
from settings import read_settings

blueprint = Blueprint("products", __name__)
products = read_settings().products


@blueprint.get("/json/<count>")
def totals(count: str):
    length = integer("count", count, 1, len(products))
    m = integer("m", request.args.get("m", ""), 1, 1_000_000)
    items = [
        {**product, "total": product["price"] * product["quantity"] * m}
        for product in products[:length]
    ]
    return {"items": items, "count": len(items)}
