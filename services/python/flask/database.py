"""The pool of connections to the database."""

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from settings import read_settings

settings = read_settings()

pool = ConnectionPool(
    settings.database_url,
    min_size=settings.database_max_conn,
    max_size=settings.database_max_conn,
    kwargs={"autocommit": True, "row_factory": dict_row},
    open=True,
)
