from typing import Annotated

from litestar import Request, post
from litestar.exceptions import ClientException
from litestar.params import Parameter


@post("/upload", status_code=200, request_max_body_size=32 * 1024 * 1024)
async def upload(
    request: Request, offset: Annotated[int, Parameter(header="X-Offset", ge=0)]
) -> dict[str, int]:
    size = 0
    byte = None
    async for chunk in request.stream():
        if size <= offset < size + len(chunk):
            byte = chunk[offset - size]
        size += len(chunk)
    if byte is None:
        raise ClientException("X-Offset is not below the length of the body")
    return {"bytes": size, "byte": byte}
