from blacksheep import FromHeader, Request, Response, json, post
from blacksheep.exceptions import BadRequest


class Offset(FromHeader[int]):
    name = "X-Offset"


@post("/upload")
async def upload(request: Request, offset: Offset) -> Response:
    size = 0
    byte = None
    async for chunk in request.stream():
        if size <= offset.value < size + len(chunk):
            byte = chunk[offset.value - size]
        size += len(chunk)
    if byte is None:
        raise BadRequest("X-Offset is not below the length of the body")
    return json({"bytes": size, "byte": byte})
