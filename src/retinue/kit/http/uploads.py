"""Multipart forms, parsed while they stream in: fields into memory, files into a spool folder."""

import asyncio
import contextlib
import errno
import hashlib
import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, MultipartState

from retinue.kit.clock import SystemClock
from retinue.kit.db.errors import StorageFull
from retinue.kit.errors import FileTooLarge, Invalid, RetinueError, Unavailable
from retinue.kit.http.bodies import ClientGone, Receive
from retinue.kit.http.part_headers import header_value, metadata_filename, multipart_boundary

_MAX_FALSE_DELIMITERS = 100
# Below this size, a write to the page cache is faster than waking a thread.
_SPILL_BYTES = 256 * 1024
# The parser's warnings quote client data.
logging.getLogger("python_multipart").setLevel(logging.ERROR)
_PLAIN_ENCODINGS = {b"", b"7bit", b"8bit", b"binary"}


@dataclass(frozen=True)
class UploadedFile:
    """A file in the spool folder; move it away to keep it."""

    field: str
    filename: str
    declared_type: str
    size: int
    sha256: str
    path: Path


@dataclass
class FormData:
    """A complete form; leaving its context removes files that were not moved away."""

    fields: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    files: list[UploadedFile] = field(default_factory=list)
    body_sha256: str = ""
    """Hash of names, types and contents in order, without the boundary, which differs in a retry."""

    def file(self, name: str) -> UploadedFile:
        """Return the first file of that name; raise `Invalid` if there is none."""
        for upload in self.files:
            if upload.field == name:
                return upload
        raise Invalid({name: "A file is required."})

    def discard(self) -> None:
        for upload in self.files:
            upload.path.unlink(missing_ok=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.discard()


@dataclass(frozen=True)
class FileLimit:
    """The maximum size of a file; `by_fields` may lower it depending on the fields sent before."""

    max_bytes: int
    by_fields: Callable[[Mapping[str, str]], int] | None = None

    def bytes_with(self, fields: Mapping[str, str]) -> int:
        return self.max_bytes if self.by_fields is None else min(self.max_bytes, self.by_fields(fields))


def readable_size(size: int) -> str:
    """Return a number of bytes in readable units."""
    for unit, bytes_of in (("MB", 1024 * 1024), ("KB", 1024)):
        if size >= bytes_of:
            return f"{size / bytes_of:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} bytes"


async def read_form(
    receive: Receive,
    content_type: bytes,
    *,
    spool_dir: Path,
    max_total: int,
    max_file: FileLimit,
    max_files: int = 20,
    max_fields: int = 100,
    max_field_bytes: int = 64 * 1024,
    max_part_headers: int = 8 * 1024,
    lists: tuple[str, ...] = (),
) -> FormData:
    """Read a multipart/form-data body; raise `FileTooLarge` as soon as it exceeds any limit.

    Fields in `lists` may be repeated.
    """
    boundary = multipart_boundary(content_type)
    limits = _FormLimits(max_file, max_files, max_fields, max_field_bytes, max_part_headers, lists)
    reader = _FormReader(boundary, limits, spool_dir)
    try:
        await _feed_all(receive, reader, max_total)
        return reader.finish()
    except BaseException:
        reader.discard()
        raise


def sweep_spool(folder: Path, older_than_s: float) -> None:
    """Remove files left behind by a crash; a newer file may be an upload in another process."""
    # File times come from the system clock, even if the instance uses another.
    oldest = SystemClock().time() - older_than_s
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()


async def _feed_all(receive: Receive, reader: "_FormReader", max_total: int) -> None:
    size = 0
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > max_total:
            raise FileTooLarge("The upload is too large.")
        await reader.feed(chunk)
        more = message.get("more_body", False)


@dataclass(frozen=True)
class _FormLimits:
    file: FileLimit
    files: int
    fields: int
    field_bytes: int
    part_headers: int
    lists: tuple[str, ...]


def _refusal(error: OSError) -> RetinueError:
    """Return what the client is told about a file that could not be spooled."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull()
    return Unavailable("The upload cannot be stored at the moment. Try again later.")


class _Spool:
    """A new file with an unguessable name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / secrets.token_hex(16)
        self.digest = hashlib.sha256()
        # A cancelled request discards its files while a thread may still be writing; the lock keeps it from
        # writing to a closed descriptor that has been reused.
        self._lock = threading.Lock()
        self._held = bytearray()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(self.path, flags, 0o600)

    def hold(self, data: memoryview) -> None:
        self._held += data

    def write(self) -> None:
        """Write the buffered data to disk."""
        with self._lock:
            held, self._held = self._held, bytearray()
            self.digest.update(held)
            rest = memoryview(held)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def close(self) -> None:
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1

    def discard(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)


@dataclass
class _Part:
    headers: dict[bytes, bytes] = field(default_factory=dict)
    header_bytes: int = 0
    name: str = ""
    filename: str | None = None
    size: int = 0
    max_bytes: int = 0
    content: bytearray = field(default_factory=bytearray)
    spool: _Spool | None = None


class _FormReader:
    def __init__(self, boundary: bytes, limits: _FormLimits, spool_dir: Path) -> None:
        self._limits = limits
        self._spool_dir = spool_dir
        self._part = _Part()
        self._parts: list[_Part] = []
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._open: list[_Spool] = []
        self._held_bytes = 0
        self._delimiter = b"\r\n--" + boundary
        self._delimiters = 0
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._on_part_begin,
                "on_header_field": self._on_header_field,
                "on_header_value": self._on_header_value,
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_part_data,
                "on_part_end": self._on_part_end,
            },
            max_header_count=limits.part_headers,
            max_header_size=limits.part_headers,
        )

    async def feed(self, chunk: bytes) -> None:
        # A false boundary costs the parser microseconds, and a short one fits in many times.
        self._delimiters += chunk.count(self._delimiter)
        if self._delimiters > self._limits.files + self._limits.fields + _MAX_FALSE_DELIMITERS:
            raise FileTooLarge("The form has too many parts.")
        try:
            self._parser.write(chunk)
            if self._held_bytes >= _SPILL_BYTES:
                await asyncio.to_thread(self._spill)
        except MultipartParseError as error:
            # The parser also counts blanks that reach no callback, and enforces its own limit.
            if "Maximum header" in str(error):
                raise FileTooLarge("The headers of a part are too large.") from error
            raise Invalid({"body": "The multipart body is malformed."}) from error
        except OSError as error:
            raise _refusal(error) from error

    def finish(self) -> FormData:
        if self._parser.state != MultipartState.END:
            raise Invalid({"body": "The multipart body is incomplete."})
        try:
            self._spill()
            for spool in self._open:
                spool.close()
        except OSError as error:
            raise _refusal(error) from error
        return _form(self._parts, self._limits.lists)

    def discard(self) -> None:
        for part in (*self._parts, self._part):
            if part.spool is not None:
                part.spool.discard()

    def _spill(self) -> None:
        for spool in self._open:
            spool.write()
        # Parts are sequential, so only the last file can still grow.
        for spool in self._open[:-1]:
            spool.close()
        del self._open[:-1]
        self._held_bytes = 0

    def _on_part_begin(self) -> None:
        self._part = _Part()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._count_header_bytes(end - start)
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._count_header_bytes(end - start)
        self._header_value += data[start:end]

    def _count_header_bytes(self, size: int) -> None:
        self._part.header_bytes += size
        if self._part.header_bytes > self._limits.part_headers:
            raise FileTooLarge("The headers of a part are too large.")

    def _on_header_end(self) -> None:
        name = bytes(self._header_name).lower()
        if name in self._part.headers:
            raise Invalid({"body": "A part repeats one of its headers."})
        self._part.headers[name] = bytes(self._header_value)
        self._header_name.clear()
        self._header_value.clear()

    def _on_headers_finished(self) -> None:
        part = self._part
        disposition, options = header_value(part.headers.get(b"content-disposition", b""))
        encoding = part.headers.get(b"content-transfer-encoding", b"").strip().lower()
        if disposition != b"form-data" or b"name" not in options or encoding not in _PLAIN_ENCODINGS:
            raise Invalid({"body": "Each part must be form-data with a name and no transfer encoding."})
        try:
            part.name = options[b"name"].decode()
        except UnicodeDecodeError as error:
            raise Invalid({"body": "The name of a part is not UTF-8."}) from error
        part.filename = metadata_filename(options)
        self._parts.append(part)
        files = sum(1 for other in self._parts if other.filename is not None)
        if files > self._limits.files or len(self._parts) - files > self._limits.fields:
            raise FileTooLarge("The form has too many parts.")
        if part.filename is not None:
            part.max_bytes = self._limits.file.bytes_with(self._fields_so_far())

    def _fields_so_far(self) -> dict[str, str]:
        texts = (part for part in self._parts if part.filename is None)
        return {part.name: part.content.decode(errors="replace") for part in texts}

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        part = self._part
        part.size += end - start
        if part.filename is None:
            if part.size > self._limits.field_bytes:
                raise FileTooLarge(f"The field {part.name} is too large.")
            part.content += data[start:end]
            return
        if part.size > part.max_bytes:
            raise FileTooLarge(f"A file may have at most {readable_size(part.max_bytes)} here.")
        self._spool(part).hold(memoryview(data)[start:end])
        self._held_bytes += end - start

    def _spool(self, part: _Part) -> _Spool:
        if part.spool is None:
            part.spool = _Spool(self._spool_dir)
            self._open.append(part.spool)
        return part.spool

    def _on_part_end(self) -> None:
        part = self._part
        if part.filename:
            self._spool(part)
        elif part.filename is not None and not part.size:
            self._parts.remove(part)  # sent by browsers for an empty file input


def _form(parts: list[_Part], lists: tuple[str, ...]) -> FormData:
    form = FormData()
    digest = hashlib.sha256()
    for part in parts:
        if part.spool is None:
            if part.name in form.fields:
                raise Invalid({part.name: "This field was sent twice."})
            text = _text(part)
            if part.name in lists:
                form.lists.setdefault(part.name, []).append(text)
            else:
                form.fields[part.name] = text
            digest_parts: tuple[str, ...] = ("field", part.name, text)
        else:
            upload = _uploaded(part, part.spool)
            form.files.append(upload)
            digest_parts = ("file", upload.field, upload.filename, upload.declared_type, upload.sha256)
        digest.update(repr(digest_parts).encode())
    form.body_sha256 = digest.hexdigest()
    return form


def _uploaded(part: _Part, spool: _Spool) -> UploadedFile:
    declared, _ = header_value(part.headers.get(b"content-type", b""))
    return UploadedFile(
        field=part.name,
        filename=part.filename or "file",
        declared_type=declared.decode("latin-1")[:255] or "application/octet-stream",
        size=part.size,
        sha256=spool.digest.hexdigest(),
        path=spool.path,
    )


def _text(part: _Part) -> str:
    try:
        text = part.content.decode()
    except UnicodeDecodeError as error:
        raise Invalid({part.name: "This field is not UTF-8 text."}) from error
    if "\0" in text:
        raise Invalid({part.name: "must not contain the character U+0000"})
    return text
