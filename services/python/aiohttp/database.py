"""The pool of connections to the database."""

from collections.abc import AsyncIterator

import asyncpg
from aiohttp import web

from settings import Settings

POOL = web.AppKey("POOL", asyncpg.Pool)


def add_database(app: web.Application, settings: Settings) -> None:
    async def pool(app: web.Application) -> AsyncIterator[None]:
        async with asyncpg.create_pool(
            settings.database_url,
            min_size=settings.database_max_conn,
            max_size=settings.database_max_conn,
            max_inactive_connection_lifetime=0,
        ) as app[POOL]:
            yield

    app.cleanup_ctx.append(pool)
