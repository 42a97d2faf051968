"""Encoding and decoding of HTTP bodies."""

import re
import urllib.parse
from typing import Any

import msgspec

from retinue.tools.executors.urls import query_pairs

JSON_TYPE = "application/json"

FORM_TYPE = "application/x-www-form-urlencoded"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json|text/json", re.ASCII)
# Only plain text encodings: others that Python accepts, such as punycode, are slow or are not text.
_CHARSET = re.compile(
    r"utf-?(?:8|16|16le|16be)|us-ascii|iso-8859-\d{1,2}|latin-?1|windows-125\d|koi8-[ru]"
    r"|shift_jis|euc-(?:jp|kr)|gb18030|gbk|gb2312|big5",
    re.ASCII,
)
_CHARSET_PARAMETER = re.compile(r';\s*charset="?([^";\s]+)', re.IGNORECASE)


def encode_body(body: Any, content_type: str) -> bytes:
    """Encode a body by its content type; bytes are sent unchanged, and text unless the type is JSON."""
    if isinstance(body, bytes):
        return body
    mime_type = _mime_type(content_type)
    if mime_type == FORM_TYPE and isinstance(body, dict):
        return urllib.parse.urlencode(query_pairs(body), errors="replace").encode()
    if isinstance(body, str) and not _JSON.fullmatch(mime_type):
        return body.encode(errors="replace")
    return msgspec.json.encode(body)


def decode_body(content: bytes, content_type: str) -> Any:
    """Decode JSON if the type is JSON or missing, otherwise text; return None for an empty body."""
    if not content:
        return None
    mime_type = _mime_type(content_type)
    if not mime_type or _JSON.fullmatch(mime_type):
        try:
            return msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.DecodeError, RecursionError):
            pass
    return content.decode(_charset(content_type), errors="replace")


def _mime_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _charset(content_type: str) -> str:
    matched = _CHARSET_PARAMETER.search(content_type)
    charset = matched[1].lower() if matched else ""
    return charset if _CHARSET.fullmatch(charset) else "utf-8"
