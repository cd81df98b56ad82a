"""The engine, which is the pool of connections, and the tables."""

from contextlib import AsyncExitStack

from sqlalchemy import Column, Integer, MetaData, Table, Text, make_url
from sqlalchemy.ext.asyncio import create_async_engine

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


metadata = MetaData()

world = Table(
    "world",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("randomnumber", Integer, nullable=False),
)

fortune = Table(
    "fortune",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("message", Text, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("category", Text, nullable=False),
    Column("price", Integer, nullable=False),
    Column("quantity", Integer, nullable=False),
)
