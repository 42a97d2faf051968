"""Mail addresses and the From header, parsed and written alike in every Python version.

`email.utils.parseaddr` rejects different addresses in each release, and the email package drops the quotes
around a long name when it folds a header, so that part of the name could become an address.
"""

import base64
import re
from collections.abc import Iterator
from email import policy
from email.headerregistry import BaseHeader, HeaderRegistry

MAX_ADDRESS_LENGTH = 254
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_MAX_QUOTED_NAME_LENGTH = 200
# An encoded word has at most 75 characters; base64 turns 45 bytes into 60.
_MAX_ENCODED_WORD_BYTES = 45
_ATOM = r"""[^\s@<>()\[\]\\,;:"]"""
_ADDRESS = re.compile(rf"{_ATOM}{{1,64}}@(?:{_ATOM}{{1,253}}|\[(?:IPv6:)?[0-9A-Fa-f.:]+\])")
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_NAMED = re.compile(rf"(?P<name>(?:{_QUOTED}|[^\"<>@,;:\\])*)<(?P<address>[^<>]*)>")
_QUOTED_WORD = re.compile(_QUOTED)
_ESCAPED = re.compile(r"\\(.)")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~ -]*")


def parse_address(text: str) -> str | None:
    """Return one bare address with its domain in ASCII, or None."""
    if len(text) > MAX_ADDRESS_LENGTH or UNSAFE.search(text) or "=?" in text or not _ADDRESS.fullmatch(text):
        return None
    local, _, domain = text.rpartition("@")
    try:
        return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode()}"
    except UnicodeError:
        return None


def parse_named_address(text: str) -> tuple[str, str] | None:
    """Return name and address of `address`, `Name <address>` or `"Name" <address>`; the name may be ""."""
    stripped = text.strip()
    if UNSAFE.search(text):
        return None
    match = _NAMED.fullmatch(stripped)
    name = _QUOTED_WORD.sub(_unquoted, match["name"]) if match else ""
    address = parse_address(match["address"].strip() if match else stripped)
    return (" ".join(name.split()), address) if address else None


def _unquoted(quoted: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", quoted[0][1:-1])


def from_header(name: str, address: str) -> str:
    """Return the From header of one sender on one line; the name cannot become an address."""
    if not name:
        return address
    if not name.isascii() or "=?" in name or len(name) > _MAX_QUOTED_NAME_LENGTH:
        return f"{' '.join(_encoded_words(name))} <{address}>"
    if _PLAIN_NAME.fullmatch(name):
        return f"{name} <{address}>"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}" <{address}>'


def _encoded_words(name: str) -> Iterator[str]:
    piece = b""
    for character in map(str.encode, name):
        if len(piece) + len(character) > _MAX_ENCODED_WORD_BYTES:
            yield _encoded_word(piece)
            piece = b""
        piece += character
    yield _encoded_word(piece)


def _encoded_word(piece: bytes) -> str:
    return f"=?utf-8?b?{base64.b64encode(piece).decode()}?="


class _FromHeader(BaseHeader):
    """A From header made by `from_header`; it is only folded between encoded words."""

    max_count = 1

    @classmethod
    def parse(cls, value: str, kwds: dict[str, object]) -> None:
        kwds["parse_tree"] = None
        kwds["decoded"] = value

    def fold(self, *, policy: policy.Policy) -> str:
        folded = self.replace("?= =?", f"?={policy.linesep} =?")
        return f"{self.name}: {folded}{policy.linesep}"


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("from", _FromHeader)
SMTP = policy.SMTP.clone(header_factory=_HEADERS)
SMTPUTF8 = policy.SMTPUTF8.clone(header_factory=_HEADERS)
