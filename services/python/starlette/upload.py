from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from integers import integer


async def upload(request: Request) -> JSONResponse:
    offset = integer("X-Offset", request.headers.get("X-Offset", ""), 0, 2**31)
    size = 0
    byte = None
    async for chunk in request.stream():
        if size <= offset < size + len(chunk):
            byte = chunk[offset - size]
        size += len(chunk)
    if byte is None:
        raise HTTPException(400, "X-Offset is not below the length of the body")
    return JSONResponse({"bytes": size, "byte": byte})


routes = [Route("/upload", upload, methods=["POST"])]
