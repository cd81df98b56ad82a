from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from database import engine, fortune

templates = Jinja2Templates(directory="templates")


async def fortunes(request: Request) -> Response:
    async with engine.connect() as connection:
        rows = await connection.execute(select(fortune))
        fortunes = [dict(row) for row in rows.mappings()]
    fortunes.append({"id": 0, "message": "Additional fortune added at request time."})
    fortunes.sort(key=lambda fortune: fortune["message"])
    return templates.TemplateResponse(request, "fortunes.html", {"fortunes": fortunes})


routes = [Route("/fortunes", fortunes)]
