"""Another HTTP server is asked, by httpx."""

import httpx
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from settings import read_settings

client = httpx.AsyncClient(
    base_url=read_settings().upstream_url,
    limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
)


async def gateway(request: Request) -> JSONResponse:
    answer = await client.get(f"/items/{request.path_params['id']}")
    if answer.status_code == 404:
        raise HTTPException(404)
    answer.raise_for_status()
    return JSONResponse(answer.json() | {"via": "gateway"})


routes = [Route("/gateway/{id:int}", gateway)]
