from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Request
from pydantic import BaseModel

router = APIRouter()


class Measured(BaseModel):
    bytes: int
    byte: int


@router.post("/upload")
async def upload(request: Request, x_offset: Annotated[int, Header(ge=0)]) -> Measured:
    size = 0
    byte = None
    async for chunk in request.stream():
        if size <= x_offset < size + len(chunk):
            byte = chunk[x_offset - size]
        size += len(chunk)
    if byte is None:
        raise HTTPException(400, "X-Offset is not below the length of the body")
    return Measured(bytes=size, byte=byte)
