"""What the program is told, by environment variables and by nothing else."""

import json
import os
import re
import socket
import ssl
import sys
from ipaddress import IPv4Address
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit


class Settings(NamedTuple):
    port: int
    serve_on: IPv4Address
    threads: int
    delay_ms: int
    tls_cert: str | None
    tls_key: str | None
    database_url: str | None
    database_max_conn: int
    products: list[dict[str, Any]] | None
    folder_static: str | None
    upstream_url: str | None

    @property
    def workers(self) -> int:
        """Worker processes: as many as THREADS, but no more than there are CPUs to run them."""
        return min(self.threads, len(os.sched_getaffinity(0)))

    @property
    def slots(self) -> int:
        """Messages that may be in their delay at once in one worker."""
        return self.threads // self.workers

    @property
    def connections(self) -> int:
        """Connections to the database of one worker."""
        return max(1, self.database_max_conn // self.workers)


def read_settings() -> Settings:
    if os.environ.get("PROTOCOL", "http/1.1") != "http/1.1":
        _refuse("PROTOCOL must be http/1.1")
    tls_cert, tls_key = _tls_files()
    return Settings(
        port=_integer("PORT", 1, 65535),
        serve_on=_ipv4("SERVE_ON", "127.0.0.1"),
        threads=_integer("THREADS", 1, 1024, "1"),
        delay_ms=_integer("DELAY_MS", 0, 60000, "0"),
        tls_cert=tls_cert,
        tls_key=tls_key,
        database_url=_url("DATABASE_URL", "postgres", "postgresql"),
        database_max_conn=_integer("DATABASE_MAX_CONN", 1, 10000, "8"),
        products=_products(),
        folder_static=_folder("FOLDER_STATIC"),
        upstream_url=_url("UPSTREAM_URL", "http"),
    )


def _integer(name: str, low: int, high: int, default: str = "") -> int:
    text = os.environ.get(name, default)
    if re.fullmatch("[0-9]{1,9}", text) and low <= int(text) <= high:
        return int(text)
    _refuse(f"{name} must be an integer from {low} to {high}")


def _ipv4(name: str, default: str) -> IPv4Address:
    text = os.environ.get(name) or default
    try:
        return IPv4Address(text)
    except ValueError:
        _refuse(f'{name} must be an IPv4 address, such as 0.0.0.0, not "{text}"')


def _url(name: str, *schemes: str) -> str | None:
    text = os.environ.get(name)
    if text is not None:
        try:
            url = urlsplit(text)
            valid = url.scheme in schemes and url.hostname and url.port != 0
        except ValueError:
            valid = False
        if not valid:
            _refuse(f"{name} must be a URL that begins with {schemes[0]}://")
    return text


def _folder(name: str) -> str | None:
    folder = os.environ.get(name)
    if folder is not None and not os.path.isdir(folder):
        _refuse(f"{name} must be a folder")
    return folder


def _products() -> list[dict[str, Any]] | None:
    file = os.environ.get("DATA_PRODUCTS")
    if file is None:
        return None
    try:
        with open(file, encoding="utf-8") as text:
            products = json.load(text)
    except (OSError, ValueError) as error:
        _refuse(f"DATA_PRODUCTS cannot be read: {error}")
    if not isinstance(products, list):
        _refuse("DATA_PRODUCTS must be an array")
    return products


def _tls_files() -> tuple[str | None, str | None]:
    cert, key = os.environ.get("TLS_CERT"), os.environ.get("TLS_KEY")
    if (cert is None) != (key is None):
        _refuse("TLS_CERT and TLS_KEY must be set together")
    if cert is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
        except OSError as error:
            _refuse(f"TLS_CERT or TLS_KEY cannot be used: {error}")
    return cert, key


def _refuse(why: str) -> NoReturn:
    print(why, file=sys.stderr)
    raise SystemExit(2)


def refuse_busy_port(address: IPv4Address, port: int) -> None:
    """Ends the program with one line where the port is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((str(address), port))
        except OSError as error:
            sys.exit(f"cannot listen on {address}:{port}: {error.strerror}")
