from typing import Annotated

from fastapi import APIRouter, FastAPI, Path, Query
from fastapi.middleware.gzip import GZipMiddleware
from pydantic import BaseModel

from settings import read_settings

products = read_settings().products


class Rating(BaseModel):
    score: int
    count: int


class Product(BaseModel):
    id: int
    name: str
    category: str
    price: int
    quantity: int
    active: bool
    tags: list[str]
    rating: Rating
    total: int


class Totals(BaseModel):
    items: list[Product]
    count: int


async def totals(
    count: Annotated[int, Path(ge=1, le=len(products))],
    m: Annotated[int, Query(ge=1, le=1_000_000)],
) -> Totals:
    items = [
        Product(**product, total=product["price"] * product["quantity"] * m)
        for product in products[:count]
    ]
    return Totals(items=items, count=len(items))


router = APIRouter()
router.get("/json/{count}")(totals)

# FastAPI has middleware for an application, hence one of its own for this route.
compressed = FastAPI(openapi_url=None)
compressed.add_middleware(GZipMiddleware, minimum_size=200)
compressed.get("/{count}")(totals)
