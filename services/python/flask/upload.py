from flask import Blueprint, abort, request

from integers import integer

blueprint = Blueprint("upload", __name__)


@blueprint.post("/upload")
def upload():
    offset = integer("X-Offset", request.headers.get("X-Offset", ""), 0, 2**31)
    size = 0
    byte = None
    while chunk := request.stream.read(64 * 1024):
        if size <= offset < size + len(chunk):
            byte = chunk[offset - size]
        size += len(chunk)
    if byte is None:
        abort(400, "X-Offset is not below the length of the body")
    return {"bytes": size, "byte": byte}
