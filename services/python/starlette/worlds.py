from random import randint, sample

from sqlalchemy import bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from database import engine, world

READ = select(world).where(world.c.id == bindparam("key"))
WRITE = (
    update(world)
    .where(world.c.id == bindparam("key"))
    .values(randomnumber=bindparam("number"))
)


async def db(request: Request) -> JSONResponse:
    async with engine.connect() as connection:
        return JSONResponse(await read(connection, randint(1, 10_000)))


async def queries(request: Request) -> JSONResponse:
    async with engine.connect() as connection:
        worlds = [
            await read(connection, randint(1, 10_000))
            for _ in range(query_count(request))
        ]
    return JSONResponse(worlds)


async def updates(request: Request) -> JSONResponse:
    # In ascending order: two requests that write the same rows cannot deadlock.
    ids = sorted(sample(range(1, 10_001), query_count(request)))
    async with engine.begin() as connection:
        worlds = [await read(connection, id) for id in ids]
        for row in worlds:
            row["randomNumber"] = randint(1, 10_000)
        await connection.execute(
            WRITE,
            [{"key": row["id"], "number": row["randomNumber"]} for row in worlds],
        )
    return JSONResponse(worlds)


async def read(connection: AsyncConnection, id: int) -> dict[str, int]:
    row = (await connection.execute(READ, {"key": id})).one()
    return {"id": row.id, "randomNumber": row.randomnumber}


def query_count(request: Request) -> int:
    try:
        return min(max(int(request.query_params.get("queries", "1")), 1), 500)
    except ValueError:
        return 1


routes = [
    Route("/db", db),
    Route("/queries", queries),
    Route("/updates", updates),
]
