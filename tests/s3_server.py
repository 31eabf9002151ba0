"""As much of the S3 protocol as obstore speaks, on loopback: objects in memory, no signatures checked."""

import re
from itertools import count
from urllib.parse import unquote
from xml.sax.saxutils import escape

from aiohttp import web

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class S3Server:
    """One bucket. `refuse` makes every request fail with that status."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.refuse: int | None = None
        self.requests = 0
        self._parts: dict[str, dict[int, bytes]] = {}
        self._numbers = count(1)
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self) -> None:
        application = web.Application(client_max_size=1 << 28)
        application.router.add_route("*", "/bucket{key:.*}", self._handle)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        if self.refuse:
            return web.Response(status=self.refuse, text="<Error><Code>Refused</Code></Error>")
        key = request.match_info["key"].lstrip("/")
        body = await request.read()
        if request.method == "GET" and not key:
            return self._list(request.query.get("prefix", ""))
        if request.method == "POST" and "delete" in request.query:
            return self._delete(body.decode())
        if request.method == "POST":
            return self._multipart(key, request.query.get("uploadId"))
        if request.method == "PUT" and "uploadId" in request.query:
            self._parts[request.query["uploadId"]][int(request.query["partNumber"])] = body
            return web.Response(headers={"ETag": '"part"'})
        if request.method == "PUT" and "x-amz-copy-source" in request.headers:
            return self._copy(unquote(request.headers["x-amz-copy-source"]).lstrip("/").removeprefix("bucket/"), key)
        if request.method == "DELETE":
            self.objects.pop(key, None)
            return web.Response(status=204)
        if request.method == "PUT":
            self.objects[key] = body
            return web.Response(headers={"ETag": '"whole"'})
        return self._read(key, request.headers.get("Range"))

    def _copy(self, source: str, key: str) -> web.Response:
        if source not in self.objects:
            return web.Response(status=404, text="<Error><Code>NoSuchKey</Code></Error>")
        self.objects[key] = self.objects[source]
        return _xml('<CopyObjectResult><ETag>"whole"</ETag></CopyObjectResult>')

    def _read(self, key: str, wanted: str | None) -> web.Response:
        if key not in self.objects:
            return web.Response(status=404, text="<Error><Code>NoSuchKey</Code></Error>")
        data = self.objects[key]
        headers = {"ETag": '"whole"', "Last-Modified": "Sun, 01 Nov 2026 00:00:00 GMT"}
        asked = _RANGE.fullmatch(wanted or "")
        if not asked:
            return web.Response(body=data, headers=headers)
        first, last = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
        if first >= len(data):
            return web.Response(status=416)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return web.Response(status=206, body=data[first : last + 1], headers=headers)

    def _list(self, prefix: str) -> web.Response:
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size>"
            "<LastModified>2026-11-01T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
            for key, data in sorted(self.objects.items())
            if key.startswith(prefix)
        )
        return _xml(f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>")

    def _delete(self, body: str) -> web.Response:
        keys = re.findall(r"<Key>(.*?)</Key>", body)
        for key in keys:
            self.objects.pop(key, None)
        return _xml(
            "".join(["<DeleteResult>", *(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys), "</DeleteResult>"])
        )

    def _multipart(self, key: str, upload: str | None) -> web.Response:
        if upload is None:
            upload = str(next(self._numbers))
            self._parts[upload] = {}
            answer = f"<UploadId>{upload}</UploadId><Key>{key}</Key><Bucket>bucket</Bucket>"
            return _xml(f"<InitiateMultipartUploadResult>{answer}</InitiateMultipartUploadResult>")
        parts = self._parts.pop(upload)
        self.objects[key] = b"".join(parts[number] for number in sorted(parts))
        return _xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>')


def _xml(text: str) -> web.Response:
    return web.Response(text=f'<?xml version="1.0"?>{text}', content_type="application/xml")
