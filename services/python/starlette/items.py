"""Items are created, read, updated and listed: one statement for each."""

from typing import Any

from sqlalchemy import insert, select, update
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from database import engine, items
from integers import INT4, integer


async def read(request: Request) -> JSONResponse:
    statement = select(items).where(items.c.id == item_id(request))
    async with engine.connect() as connection:
        row = (await connection.execute(statement)).mappings().one_or_none()
    if row is None:
        raise HTTPException(404)
    return JSONResponse(dict(row))


async def list_category(request: Request) -> JSONResponse:
    category = request.query_params.get("category")
    if category is None or not is_text(category):
        raise HTTPException(400, "category is missing or no text")
    page = integer("page", request.query_params.get("page", ""), 1, INT4)
    limit = integer("limit", request.query_params.get("limit", ""), 1, 50)
    statement = (
        select(items)
        .where(items.c.category == category)
        .order_by(items.c.id)
        .limit(limit)
        .offset((page - 1) * limit)
    )
    async with engine.connect() as connection:
        rows = (await connection.execute(statement)).mappings().all()
    return JSONResponse(
        {"items": [dict(row) for row in rows], "page": page, "limit": limit}
    )


async def create(request: Request) -> JSONResponse:
    statement = insert(items).values(await item_fields(request)).returning(items)
    async with engine.begin() as connection:
        row = (await connection.execute(statement)).mappings().one()
    return JSONResponse(dict(row), 201)


async def replace(request: Request) -> JSONResponse:
    statement = (
        update(items)
        .where(items.c.id == item_id(request))
        .values(await item_fields(request))
        .returning(items)
    )
    async with engine.begin() as connection:
        row = (await connection.execute(statement)).mappings().one_or_none()
    if row is None:
        raise HTTPException(404)
    return JSONResponse(dict(row))


def item_id(request: Request) -> int:
    return integer("id", request.path_params["id"], 0, INT4)


async def item_fields(request: Request) -> dict[str, Any]:
    try:
        body = await request.json()
    except ValueError:
        raise HTTPException(400, "The body is not JSON") from None
    match body:
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
    raise HTTPException(400, "The body is not an item")


def is_text(value: str) -> bool:
    """What PostgreSQL can store: UTF-8 without NUL."""
    return "\0" not in value and value.encode(errors="replace").decode() == value


def is_int4(*values: Any) -> bool:
    return all(type(value) is int and -INT4 <= value <= INT4 for value in values)


routes = [
    Route("/crud/items/{id}", read),
    Route("/crud/items", list_category),
    Route("/crud/items", create, methods=["POST"]),
    Route("/crud/items/{id}", replace, methods=["PUT"]),
]
