import falcon
import falcon.asgi


class Measure:
    """Counts what it is fed, and keeps the byte at an offset."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._size = 0
        self._byte: int | None = None

    def feed(self, chunk: bytes) -> None:
        if self._size <= self._offset < self._size + len(chunk):
            self._byte = chunk[self._offset - self._size]
        self._size += len(chunk)

    def answer(self) -> dict[str, int]:
        if self._byte is None:
            raise falcon.HTTPBadRequest(title="X-Offset is not below the length")
        return {"bytes": self._size, "byte": self._byte}


class Upload:
    """A body is read as a stream."""

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        measure = Measure(req.get_header_as_int("X-Offset", required=True))
        while chunk := req.stream.read(64 * 1024):
            measure.feed(chunk)
        resp.media = measure.answer()


class AsyncUpload:
    """The same as an ASGI resource."""

    async def on_post(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response
    ) -> None:
        measure = Measure(req.get_header_as_int("X-Offset", required=True))
        async for chunk in req.stream:
            measure.feed(chunk)
        resp.media = measure.answer()
