"""Another HTTP server is asked, by httpx."""

from typing import Any

import httpx
from fastapi import APIRouter, HTTPException

from settings import read_settings

router = APIRouter()

client = httpx.AsyncClient(
    base_url=read_settings().upstream_url,
    limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
)


@router.get("/gateway/{id}")
async def gateway(id: int) -> dict[str, Any]:
    answer = await client.get(f"/items/{id}")
    if answer.status_code == 404:
        raise HTTPException(404)
    answer.raise_for_status()
    return answer.json() | {"via": "gateway"}
