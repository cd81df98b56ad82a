"""Items are created, read, updated and listed: one statement for each."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Checked
from sqlalchemy import update
from sqlmodel import Field, SQLModel, select

from database import Session

router = APIRouter(prefix="/crud/items")

INT4 = 2**31 - 1
Int4 = Annotated[int, Checked(ge=-INT4, le=INT4)]
# PostgreSQL stores no NUL.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]
Id = Annotated[int, Path(ge=0, le=INT4)]


class NewItem(BaseModel):
    model_config = ConfigDict(strict=True)

    name: Text
    category: Text
    price: Int4
    quantity: Int4


class Item(SQLModel, table=True):
    __tablename__ = "items"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    category: str
    price: int
    quantity: int


class Page(BaseModel):
    items: list[Item]
    page: int
    limit: int


@router.get("/{id}")
async def read(session: Session, id: Id) -> Item:
    item = (await session.exec(select(Item).where(Item.id == id))).one_or_none()
    if item is None:
        raise HTTPException(404)
    return item


@router.get("")
async def list_category(
    session: Session,
    category: Text,
    page: Annotated[int, Query(ge=1, le=INT4)],
    limit: Annotated[int, Query(ge=1, le=50)],
) -> Page:
    statement = (
        select(Item)
        .where(Item.category == category)
        .order_by(Item.id)
        .limit(limit)
        .offset((page - 1) * limit)
    )
    items = (await session.exec(statement)).all()
    return Page(items=items, page=page, limit=limit)


@router.post("", status_code=201)
async def create(session: Session, new: NewItem) -> Item:
    item = Item(**new.model_dump())
    session.add(item)
    await session.commit()
    return item


@router.put("/{id}")
async def replace(session: Session, id: Id, new: NewItem) -> Item:
    statement = (
        update(Item).where(Item.id == id).values(new.model_dump()).returning(Item)
    )
    item = (await session.scalars(statement)).one_or_none()
    if item is None:
        raise HTTPException(404)
    await session.commit()
    return item
