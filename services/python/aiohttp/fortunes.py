from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import web

from database import POOL

routes = web.RouteTableDef()


def add_templates(app: web.Application) -> None:
    aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader("templates"))


@routes.get("/fortunes")
@aiohttp_jinja2.template("fortunes.html")
async def fortunes(request: web.Request) -> dict[str, Any]:
    rows = await request.app[POOL].fetch("SELECT id, message FROM fortune")
    fortunes = [dict(row) for row in rows]
    fortunes.append({"id": 0, "message": "Additional fortune added at request time."})
    fortunes.sort(key=lambda fortune: fortune["message"])
    return {"fortunes": fortunes}
