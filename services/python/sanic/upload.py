import re

from sanic import Blueprint, HTTPResponse, Request, json
from sanic.exceptions import BadRequest

blueprint = Blueprint("upload")


@blueprint.post("/upload", stream=True)
async def upload(request: Request) -> HTTPResponse:
    header = request.headers.get("X-Offset", "")
    if not re.fullmatch("[0-9]{1,10}", header):
        raise BadRequest("X-Offset is missing or no integer")
    offset = int(header)
    size = 0
    byte = None
    while (chunk := await request.stream.read()) is not None:
        if size <= offset < size + len(chunk):
            byte = chunk[offset - size]
        size += len(chunk)
    if byte is None:
        raise BadRequest("X-Offset is not below the length of the body")
    return json({"bytes": size, "byte": byte})
