"""Items are created, read, updated and listed: one statement for each."""

from typing import Any

from flask import Blueprint, abort, request

from database import pool
from integers import INT4, integer

blueprint = Blueprint("items", __name__, url_prefix="/crud/items")

ALL = "id, name, category, price, quantity"
READ = f"SELECT {ALL} FROM items WHERE id = %s"
LIST = f"SELECT {ALL} FROM items WHERE category = %s ORDER BY id LIMIT %s OFFSET %s"
CREATE = f"""
INSERT INTO items (name, category, price, quantity)
VALUES (%(name)s, %(category)s, %(price)s, %(quantity)s)
RETURNING {ALL}
"""
UPDATE = f"""
UPDATE items
SET name = %(name)s, category = %(category)s, price = %(price)s, quantity = %(quantity)s
WHERE id = %(id)s
RETURNING {ALL}
"""


@blueprint.get("/<id>")
def read(id: str):
    key = integer("id", id, 0, INT4)
    with pool.connection() as connection:
        item = connection.execute(READ, (key,)).fetchone()
    return item or abort(404)


@blueprint.get("")
def list_category():
    category = request.args.get("category")
    if category is None or not is_text(category):
        abort(400, "category is missing or no text")
    page = integer("page", request.args.get("page", ""), 1, INT4)
    limit = integer("limit", request.args.get("limit", ""), 1, 50)
    with pool.connection() as connection:
        rows = connection.execute(LIST, (category, limit, (page - 1) * limit))
        items = rows.fetchall()
    return {"items": items, "page": page, "limit": limit}


@blueprint.post("")
def create():
    fields = item_fields()
    with pool.connection() as connection:
        return connection.execute(CREATE, fields).fetchone(), 201


@blueprint.put("/<id>")
def update(id: str):
    fields = item_fields() | {"id": integer("id", id, 0, INT4)}
    with pool.connection() as connection:
        item = connection.execute(UPDATE, fields).fetchone()
    return item or abort(404)


def item_fields() -> dict[str, Any]:
    match request.get_json():  # 4xx where it is malformed or empty
        case {
            "name": str(name),
            "category": str(category),
            "price": int(price),
            "quantity": int(quantity),
        } if is_text(name) and is_text(category) and is_int4(price, quantity):
            return {
                "name": name,
                "category": category,
                "price": price,
                "quantity": quantity,
            }
    abort(400, "The body is not an item")


def is_text(value: str) -> bool:
    """What PostgreSQL can store: UTF-8 without NUL."""
    return "\0" not in value and value.encode(errors="replace").decode() == value


def is_int4(*values: Any) -> bool:
    return all(type(value) is int and -INT4 <= value <= INT4 for value in values)
