from random import randint, sample

from aiohttp import web

from database import POOL

routes = web.RouteTableDef()

READ = "SELECT id, randomnumber FROM world WHERE id = $1"
WRITE = "UPDATE world SET randomnumber = $2 WHERE id = $1"


@routes.get("/db")
async def db(request: web.Request) -> web.Response:
    row = await request.app[POOL].fetchrow(READ, randint(1, 10_000))
    return web.json_response({"id": row["id"], "randomNumber": row["randomnumber"]})


@routes.get("/queries")
async def queries(request: web.Request) -> web.Response:
    worlds = []
    async with request.app[POOL].acquire() as connection:
        for _ in range(query_count(request)):
            row = await connection.fetchrow(READ, randint(1, 10_000))
            worlds.append({"id": row["id"], "randomNumber": row["randomnumber"]})
    return web.json_response(worlds)


@routes.get("/updates")
async def updates(request: web.Request) -> web.Response:
    # In ascending order: two requests that write the same rows cannot deadlock.
    ids = sorted(sample(range(1, 10_001), query_count(request)))
    worlds = []
    async with request.app[POOL].acquire() as connection:
        for id in ids:
            row = await connection.fetchrow(READ, id)
            worlds.append({"id": row["id"], "randomNumber": randint(1, 10_000)})
        await connection.executemany(
            WRITE, [(world["id"], world["randomNumber"]) for world in worlds]
        )
    return web.json_response(worlds)


def query_count(request: web.Request) -> int:
    try:
        return min(max(int(request.query.get("queries", "1")), 1), 500)
    except ValueError:
        return 1
