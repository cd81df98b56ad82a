from random import randint, sample

from flask import Blueprint, jsonify, request

from database import pool

blueprint = Blueprint("worlds", __name__)

READ = "SELECT id, randomnumber FROM world WHERE id = %s"
WRITE = "UPDATE world SET randomnumber = %s WHERE id = %s"


@blueprint.get("/db")
def db():
    with pool.connection() as connection:
        return read(connection, randint(1, 10_000))


@blueprint.get("/queries")
def queries():
    with pool.connection() as connection:
        worlds = [
            read(connection, randint(1, 10_000))
            for _ in range(query_count(request.args))
        ]
    return jsonify(worlds)


@blueprint.get("/updates")
def updates():
    # In ascending order: two requests that write the same rows cannot deadlock.
    ids = sorted(sample(range(1, 10_001), query_count(request.args)))
    with pool.connection() as connection:
        worlds = [read(connection, id) for id in ids]
        for world in worlds:
            world["randomNumber"] = randint(1, 10_000)
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(
                WRITE, [(world["randomNumber"], world["id"]) for world in worlds]
            )
    return jsonify(worlds)


def read(connection, id: int) -> dict[str, int]:
    row = connection.execute(READ, (id,)).fetchone()
    return {"id": row["id"], "randomNumber": row["randomnumber"]}


def query_count(arguments) -> int:
    try:
        return min(max(int(arguments.get("queries", "1")), 1), 500)
    except ValueError:
        return 1
