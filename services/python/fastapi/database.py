"""The engine, which is the pool of connections, and a session for each request."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Depends
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlmodel.ext.asyncio.session import AsyncSession

from settings import read_settings

settings = read_settings()
url = make_url(settings.database_url)

engine = create_async_engine(
    # asyncpg has another name for what libpq calls sslmode.
    url.set(drivername="postgresql+asyncpg").difference_update_query(["sslmode"]),
    connect_args={"ssl": url.query.get("sslmode", "prefer")},
    pool_size=settings.connections,
    max_overflow=0,
)


async def open_pool() -> None:
    """Opens every connection, so that none is opened amid a load."""
    async with AsyncExitStack() as stack:
        for _ in range(settings.connections):
            await stack.enter_async_context(engine.connect())


async def session() -> AsyncIterator[AsyncSession]:
    async with AsyncSession(engine, expire_on_commit=False) as session:
        yield session


Session = Annotated[AsyncSession, Depends(session)]
