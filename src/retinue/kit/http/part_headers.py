"""Headers with parameters, as `Content-Type` and `Content-Disposition` have them."""

import re
import unicodedata
from urllib.parse import unquote_to_bytes

FILENAME_CHARS = 255

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# The second form of a quoted value is for names that end in a backslash, which browsers do not escape.
_PARAMETER = re.compile(rb';\s*(%b)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|"([^"]*)"|([^;"\s]*))\s*' % _TOKEN)
_EXTENDED = re.compile(rb"([A-Za-z0-9!#$%&+^_`{}~-]+)'[^']*'(.*)")
_UNWANTED_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTION_MARKS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def header_value(header: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """The value in lower case and its parameters; a parameter given twice counts the first time."""
    value, semicolon, rest = header.partition(b";")
    rest = semicolon + rest
    options: dict[bytes, bytes] = {}
    position = 0
    while found := _PARAMETER.match(rest, position):
        name, quoted, backslashed, plain = found.groups()
        if quoted is not None:
            plain = quoted.replace(b'\\"', b'"')
        options.setdefault(name.lower(), plain if plain is not None else backslashed)
        position = found.end()
    return value.strip().lower(), options


def metadata_filename(options: dict[bytes, bytes]) -> str | None:
    """The name a client gave its file, fit to be shown and stored but never a path; None if it is no file."""
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
    """RFC 5987: `UTF-8''na%C3%AFve.txt`."""
    found = _EXTENDED.fullmatch(value)
    if found is None:
        return None
    return _decoded(unquote_to_bytes(found[2]), "latin-1" if found[1].lower() == b"iso-8859-1" else "utf-8")


def _decoded(name: bytes, encoding: str) -> str:
    try:
        return name.decode(encoding)
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _is_wanted(character: str) -> bool:
    """A mark that turns the reading direction makes `gpj.exe` look like `exe.jpg`."""
    return (
        unicodedata.category(character) not in _UNWANTED_CATEGORIES and ord(character) not in _DIRECTION_MARKS
    )


def _shortened(name: str) -> str:
    if len(name) <= FILENAME_CHARS:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > 16:
        return name[:FILENAME_CHARS]
    return stem[: FILENAME_CHARS - len(extension) - 1] + dot + extension
