from random import randint, sample
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator
from sqlalchemy import update
from sqlmodel import Field, SQLModel, select

from database import Session

router = APIRouter()


class World(SQLModel, table=True):
    id: int = Field(primary_key=True)
    randomnumber: int


class Answer(BaseModel):
    id: int
    randomNumber: int


def clamp(value: Any) -> int:
    try:
        return min(max(int(value), 1), 500)
    except ValueError:
        return 1


Count = Annotated[int, BeforeValidator(clamp)]


@router.get("/db")
async def db(session: Session) -> Answer:
    return await read(session, randint(1, 10_000))


@router.get("/queries")
async def queries(session: Session, queries: Count = 1) -> list[Answer]:
    return [await read(session, randint(1, 10_000)) for _ in range(queries)]


@router.get("/updates")
async def updates(session: Session, queries: Count = 1) -> list[Answer]:
    # In ascending order: two requests that write the same rows cannot deadlock.
    ids = sorted(sample(range(1, 10_001), queries))
    worlds = [await read(session, id) for id in ids]
    for world in worlds:
        world.randomNumber = randint(1, 10_000)
    await session.execute(
        update(World),
        [{"id": world.id, "randomnumber": world.randomNumber} for world in worlds],
    )
    await session.commit()
    return worlds


async def read(session: Session, id: int) -> Answer:
    world = (await session.exec(select(World).where(World.id == id))).one()
    return Answer(id=world.id, randomNumber=world.randomnumber)
