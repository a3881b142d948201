"""The small part of S3 that PyArrow's file system speaks, in a process of its own.

`python -m tests.support.processes.s3_server KEY` says its port and keeps objects in memory until it
is killed: whole ones, uploads in parts, copies, ranges, lists by prefix in pages. Who comes with
another access key is refused; signatures are not looked at.
"""

import hashlib
import io
import re
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 5
"""Names in one answer to a list; S3 gives 1,000."""


class Object(NamedTuple):
    """What lies under a name."""

    content: bytes
    came: float

    @property
    def etag(self) -> str:
        """As S3's of what came in one piece."""
        return f'"{hashlib.md5(self.content).hexdigest()}"'


class Server(ThreadingHTTPServer):
    """The objects by bucket and name, and uploads that have not come to their end."""

    def __init__(self, key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.key = key
        self.objects: dict[str, Object] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.lock = threading.Lock()


class _Answer(BaseHTTPRequestHandler):
    server: Server  # pyrefly: ignore
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        if self._begin():
            self._object(self.server.objects.get(self.name))

    def do_GET(self) -> None:
        if not self._begin():
            return
        if "list-type" in self.asked:
            self._list()
        else:
            self._object(self.server.objects.get(self.name))

    def do_PUT(self) -> None:
        if not self._begin():
            return
        if source := self.headers.get("x-amz-copy-source"):
            found = self.server.objects.get(unquote(source).lstrip("/"))
            if found is None:
                self._refuse(404, "NoSuchKey")
            else:
                self._keep(found.content)
                self._xml("CopyObjectResult", f"<ETag>{escape(found.etag)}</ETag>")
        elif "uploadId" in self.asked:
            parts = self.server.uploads[self.asked["uploadId"]]
            parts[int(self.asked["partNumber"])] = self.body
            self._send(200, b"", ETag=Object(self.body, 0).etag)
        else:
            self._keep(self.body)
            self._send(200, b"", ETag=Object(self.body, 0).etag)

    def do_POST(self) -> None:
        if not self._begin():
            return
        if "uploads" in self.asked:
            name = uuid.uuid4().hex
            self.server.uploads[name] = {}
            self._xml("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")
        else:
            parts = self.server.uploads.pop(self.asked["uploadId"])
            self._keep(b"".join(parts[number] for number in sorted(parts)))
            self._xml("CompleteMultipartUploadResult", "<ETag>whole</ETag>")

    def do_DELETE(self) -> None:
        if not self._begin():
            return
        if "uploadId" in self.asked:
            self.server.uploads.pop(self.asked["uploadId"], None)
        else:
            self.server.objects.pop(self.name, None)
        self._send(204, b"")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests' output is for what fails."""

    def _begin(self) -> bool:
        """Read a request to its end; whether it is to be answered further."""
        place = urlsplit(self.path)
        self.name = unquote(place.path).lstrip("/")
        found = parse_qs(place.query, keep_blank_values=True)
        self.asked = {name: values[0] for name, values in found.items()}
        body = self._body()
        if body is None:
            # It broke off: nobody is there to be answered, and nothing was kept.
            self.close_connection = True
            return False
        self.body = body
        if f"Credential={self.server.key}/" not in self.headers.get("Authorization", ""):
            self._refuse(403, "InvalidAccessKeyId")
            return False
        return True

    def _body(self) -> bytes | None:
        """What was sent; nothing where it is not all there."""
        size = int(self.headers.get("Content-Length", 0))
        try:
            if self.headers.get("Transfer-Encoding") == "chunked":
                body = b"".join(_chunks(self.rfile))
            elif len(body := self.rfile.read(size)) < size:
                return None
            if "aws-chunked" in self.headers.get("Content-Encoding", ""):
                body = b"".join(_chunks(io.BytesIO(body)))
        except ValueError:
            return None
        return body

    def _keep(self, content: bytes) -> None:
        with self.server.lock:
            self.server.objects[self.name] = Object(content, _now())

    def _object(self, found: Object | None) -> None:
        if found is None:
            self._refuse(404, "NoSuchKey")
            return
        about = {"ETag": found.etag, "Last-Modified": formatdate(found.came, usegmt=True)}
        if asked := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
            first, last = int(asked[1]), min(int(asked[2]), len(found.content) - 1)
            about["Content-Range"] = f"bytes {first}-{last}/{len(found.content)}"
            self._send(206, found.content[first : last + 1], **about)
        else:
            self._send(200, found.content, **about)

    def _list(self) -> None:
        bucket = self.name.strip("/") + "/"
        start, after = bucket + self.asked.get("prefix", ""), self.asked.get("continuation-token")
        with self.server.lock:
            objects = sorted(self.server.objects.items())
        found = [(n, o) for n, o in objects if n.startswith(start) and n > (after or "")]
        page = found[:PAGE]
        rows = [
            f"<Contents><Key>{escape(name.removeprefix(bucket))}</Key>"
            f"<LastModified>{_iso(one.came)}</LastModified><Size>{len(one.content)}</Size></Contents>"
            for name, one in page
        ]
        more = len(found) > len(page)
        rows.append(f"<IsTruncated>{str(more).lower()}</IsTruncated>")
        if more:
            rows.append(f"<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>")
        self._xml("ListBucketResult", "".join(rows) + f"<KeyCount>{len(page)}</KeyCount>")

    def _refuse(self, status: int, code: str) -> None:
        told = f"<Error><Code>{code}</Code><Message>refused</Message></Error>"
        self._send(status, told.encode())

    def _xml(self, kind: str, content: str) -> None:
        self._send(200, f'<?xml version="1.0"?><{kind}>{content}</{kind}>'.encode())

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(content)


def _chunks(source: io.BufferedIOBase) -> Iterator[bytes]:
    """What was sent in chunks, HTTP's or Amazon's. Raises ValueError where it breaks off."""
    while size := int(source.readline().partition(b";")[0], 16):
        chunk = source.read(size)
        if len(chunk) < size or source.readline() != b"\r\n":
            raise ValueError
        yield chunk
    # Checksums may follow.
    while source.readline() not in (b"\r\n", b""):
        pass


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


if __name__ == "__main__":
    server = Server(sys.argv[1])
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
