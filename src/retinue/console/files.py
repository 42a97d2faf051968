"""The built files of the console, as `packaging/console_build.py` leaves them in `web/`."""

import gzip
import re
from functools import lru_cache
from pathlib import Path

import msgspec

WEB = Path(__file__).parent / "web"

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,120}")
_MIME_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
# The smaller one first. The build keeps text files in these two forms only, which halves the package.
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))


class Asset(msgspec.Struct, frozen=True):
    content: bytes
    mime_type: str
    encoding: str = ""


def read_index() -> str | None:
    """Return the page that starts the console, or None if the console is not built."""
    try:
        return (WEB / "index.html").read_text("utf-8")
    except FileNotFoundError:
        return None


def is_built() -> bool:
    return (WEB / "index.html").is_file()


def find_asset(name: str, accepted: str) -> Asset | None:
    """Return a file by its hashed name, compressed if `accepted` (Accept-Encoding) allows it."""
    mime_type = _MIME_TYPES.get(Path(name).suffix)
    if mime_type is None or not _NAME.fullmatch(name):
        return None
    encodings = _accepted_encodings(accepted)
    for encoding, suffix in _ENCODINGS:
        if encoding in encodings and (content := _read(str(WEB), name + suffix)) is not None:
            return Asset(content, mime_type, encoding)
    content = _read(str(WEB), name)
    if content is None and (packed := _read(str(WEB), name + ".gz")) is not None:
        content = gzip.decompress(packed)
    return Asset(content, mime_type) if content is not None else None


def _accepted_encodings(header: str) -> set[str]:
    accepted = set()
    for entry in header.lower().split(","):
        name, _, quality = entry.partition(";")
        if quality.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}:
            accepted.add(name.strip())
    return accepted


@lru_cache(maxsize=512)
def _read_known(folder: str, name: str, modified_ns: int) -> bytes:  # noqa: ARG001  part of the key
    return Path(folder, "assets", name).read_bytes()


def _read(folder: str, name: str) -> bytes | None:
    try:
        modified_ns = Path(folder, "assets", name).stat().st_mtime_ns
        return _read_known(folder, name, modified_ns)
    except (FileNotFoundError, IsADirectoryError):
        return None
