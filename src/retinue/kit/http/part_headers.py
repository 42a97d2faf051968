"""Parsing of headers with parameters, such as `Content-Type` and `Content-Disposition`."""

import re
import unicodedata
from urllib.parse import unquote_to_bytes

from retinue.kit.errors import UnsupportedMediaType

MAX_FILENAME_LENGTH = 255

_MAX_BOUNDARY_LENGTH = 70

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# The second form of a quoted value covers names that end in a backslash, which browsers do not escape.
_PARAMETER = re.compile(rb';\s*(%b)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|"([^"]*)"|([^;"\s]*))\s*' % _TOKEN)
_EXTENDED = re.compile(rb"([A-Za-z0-9!#$%&+^_`{}~-]+)'[^']*'(.*)")
_UNWANTED_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTION_MARKS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def header_value(header: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the value in lower case and its parameters; the first of repeated parameters counts."""
    value, semicolon, rest = header.partition(b";")
    rest = semicolon + rest
    options: dict[bytes, bytes] = {}
    position = 0
    while match := _PARAMETER.match(rest, position):
        name, quoted, backslashed, plain = match.groups()
        if quoted is not None:
            plain = quoted.replace(b'\\"', b'"')
        options.setdefault(name.lower(), plain if plain is not None else backslashed)
        position = match.end()
    return value.strip().lower(), options


def metadata_filename(options: dict[bytes, bytes]) -> str | None:
    """Return the client's file name, safe to show and store and never a path; None if the part is no file."""
    name = _extended(options.get(b"filename*", b""))
    if name is None:
        plain = options.get(b"filename")
        if plain is None:
            return None
        name = _decoded(plain, "utf-8")
    name = "".join(character for character in name if _is_wanted(character))
    name = unicodedata.normalize("NFC", re.split(r"[/\\]", name)[-1]).strip()
    return "" if name in {".", ".."} else _shortened(name)


def _extended(value: bytes) -> str | None:
    """Decode the form of RFC 5987: `UTF-8''na%C3%AFve.txt`."""
    match = _EXTENDED.fullmatch(value)
    if match is None:
        return None
    return _decoded(unquote_to_bytes(match[2]), "latin-1" if match[1].lower() == b"iso-8859-1" else "utf-8")


def _decoded(name: bytes, encoding: str) -> str:
    try:
        return name.decode(encoding)
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _is_wanted(character: str) -> bool:
    """Reject control characters and direction marks, which make `gpj.exe` look like `exe.jpg`."""
    return (
        unicodedata.category(character) not in _UNWANTED_CATEGORIES and ord(character) not in _DIRECTION_MARKS
    )


def _shortened(name: str) -> str:
    if len(name) <= MAX_FILENAME_LENGTH:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > 16:
        return name[:MAX_FILENAME_LENGTH]
    return stem[: MAX_FILENAME_LENGTH - len(extension) - 1] + dot + extension


def multipart_boundary(content_type: bytes) -> bytes:
    """Return the boundary of a form; raise `UnsupportedMediaType` if there is none."""
    media_type, options = header_value(content_type)
    boundary = options.get(b"boundary", b"")
    if media_type != b"multipart/form-data":
        raise UnsupportedMediaType("The body must be a form. Send it as multipart/form-data.")
    if not boundary or len(boundary) > _MAX_BOUNDARY_LENGTH or boundary.endswith(b" "):
        raise UnsupportedMediaType("The boundary in the Content-Type header is missing or not valid.")
    return boundary
