"""Items are created, read, updated and listed: one statement for each."""

from typing import Any

from aiohttp import web

from database import POOL
from integers import INT4, integer

routes = web.RouteTableDef()

ALL = "id, name, category, price, quantity"
READ = f"SELECT {ALL} FROM items WHERE id = $1"
LIST = f"SELECT {ALL} FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3"
CREATE = f"""
INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4)
RETURNING {ALL}
"""
UPDATE = f"""
UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1
RETURNING {ALL}
"""


@routes.get("/crud/items/{id}")
async def read(request: web.Request) -> web.Response:
    row = await request.app[POOL].fetchrow(READ, item_id(request))
    if row is None:
        raise web.HTTPNotFound
    return web.json_response(dict(row))


@routes.get("/crud/items")
async def list_category(request: web.Request) -> web.Response:
    category = request.query.get("category")
    if category is None or not is_text(category):
        raise web.HTTPBadRequest(text="category is missing or no text")
    page = integer("page", request.query.get("page", ""), 1, INT4)
    limit = integer("limit", request.query.get("limit", ""), 1, 50)
    rows = await request.app[POOL].fetch(LIST, category, limit, (page - 1) * limit)
    return web.json_response(
        {"items": [dict(row) for row in rows], "page": page, "limit": limit}
    )


@routes.post("/crud/items")
async def create(request: web.Request) -> web.Response:
    row = await request.app[POOL].fetchrow(CREATE, *await item_fields(request))
    return web.json_response(dict(row), status=201)


@routes.put("/crud/items/{id}")
async def update(request: web.Request) -> web.Response:
    row = await request.app[POOL].fetchrow(
        UPDATE, item_id(request), *await item_fields(request)
    )
    if row is None:
        raise web.HTTPNotFound
    return web.json_response(dict(row))


def item_id(request: web.Request) -> int:
    return integer("id", request.match_info["id"], 0, INT4)


async def item_fields(request: web.Request) -> tuple[str, str, int, int]:
    try:
        body = await request.json()
    except ValueError:
        raise web.HTTPBadRequest(text="The body is not JSON") from None
    match body:
        case {
            "name": str(name),
            "category": str(category),
            "price": int(price),
            "quantity": int(quantity),
        } if is_text(name) and is_text(category) and is_int4(price, quantity):
            return name, category, price, quantity
    raise web.HTTPBadRequest(text="The body is not an item")


def is_text(value: str) -> bool:
    """What PostgreSQL can store: UTF-8 without NUL."""
    return "\0" not in value and value.encode(errors="replace").decode() == value


def is_int4(*values: Any) -> bool:
    return all(type(value) is int and -INT4 <= value <= INT4 for value in values)
