"""Values as pairs of a query or a form, in the styles that an endpoint names."""

import base64
import binascii
import re
import secrets
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from retinue.adapters.openapi import ValueStyle
from retinue.kit.errors import Invalid
from retinue.tools.executors.bodies import FORM_TYPE, JSON_TYPE
from retinue.tools.executors.urls import Pairs, to_text

Styles = Mapping[str, ValueStyle]

# Brackets repeat the names of all levels for each value, so a small input could make a huge form.
MAX_FORM_BYTES = 4 * 1024 * 1024
_MAX_BRACKET_LEVELS = 32
_SEPARATORS: dict[str, str] = {"comma": ",", "space": " ", "pipe": "|"}
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100}(?:; ?charset=[\w-]{1,40})?", re.ASCII)
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A", "\0": "%00"})


def form_pairs(values: Mapping[str, Any], styles: Styles, field: str) -> Pairs:
    """Return the values as pairs; nulls are left out."""
    pairs: Pairs = []
    size = 0
    for name, value in values.items():
        for pair in _pairs(name, value, styles.get(name, "repeat"), f"{field}.{name}"):
            size += len(pair[0]) + len(pair[1])
            if size > MAX_FORM_BYTES:
                raise Invalid({field: f"makes more than {MAX_FORM_BYTES // 1024**2} MiB of form fields"})
            pairs.append(pair)
    return pairs


def encode_form(
    body: Any, body_type: Literal["form", "multipart"], styles: Styles, field: str
) -> tuple[bytes, str]:
    """Return the body of a form and its content type."""
    if not isinstance(body, dict):
        raise Invalid({field: "must be an object"})
    if body_type == "multipart":
        return _encode_multipart(body, styles, field)
    return urllib.parse.urlencode(form_pairs(body, styles, field), errors="replace").encode(), FORM_TYPE


def _pairs(name: str, value: Any, style: ValueStyle, field: str) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if style == "brackets":
        yield from _bracket_pairs(name, value, field, _MAX_BRACKET_LEVELS)
    elif not isinstance(value, list) or style == "json":
        yield name, to_text(value)
    elif style in _SEPARATORS:
        yield name, _SEPARATORS[style].join(to_text(item) for item in value if item is not None)
    else:
        yield from ((name, to_text(item)) for item in value if item is not None)


def _bracket_pairs(name: str, value: Any, field: str, levels: int) -> Iterator[tuple[str, str]]:
    """Yield `name[key]` for the values of an object and `name[0]` for the items of a list."""
    if not isinstance(value, dict | list):
        if value is not None:
            yield name, to_text(value)
        return
    if not levels:
        raise Invalid({field: f"must not be nested deeper than {_MAX_BRACKET_LEVELS} levels"})
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _bracket_pairs(f"{name}[{key}]", inner, field, levels - 1)


def _encode_multipart(body: Mapping[str, Any], styles: Styles, field: str) -> tuple[bytes, str]:
    boundary = secrets.token_hex(16)
    written = bytearray()
    for headers, content in _parts(body, styles, field):
        written += f"--{boundary}\r\n{headers}\r\n\r\n".encode(errors="replace") + content + b"\r\n"
        if len(written) > MAX_FORM_BYTES:
            raise Invalid({field: f"makes a form larger than {MAX_FORM_BYTES // 1024**2} MiB"})
    written += f"--{boundary}--\r\n".encode()
    return bytes(written), f"multipart/form-data; boundary={boundary}"


def _parts(body: Mapping[str, Any], styles: Styles, field: str) -> Iterator[tuple[str, bytes]]:
    """Yield headers and content of each part; objects are sent as JSON unless their style is brackets."""
    for name, value in body.items():
        style = styles.get(name, "repeat")
        if style == "file":
            files = value if isinstance(value, list) else [value]
            yield from (_file_part(name, file, f"{field}.{name}") for file in files if file is not None)
            continue
        items = value if isinstance(value, list) and style == "repeat" else [value]
        for item in items:
            is_json = isinstance(item, dict | list) and style in {"repeat", "json"}
            type_header = f"\r\nContent-Type: {JSON_TYPE}" if is_json else ""
            for part_name, text in _pairs(name, item, "json" if is_json else style, f"{field}.{name}"):
                yield f"{_disposition(part_name)}{type_header}", text.encode(errors="replace")


def _file_part(name: str, file: Any, field: str) -> tuple[str, bytes]:
    if not isinstance(file, dict) or not isinstance(file.get("filename"), str) or not file["filename"]:
        raise Invalid({field: "must be an object with filename and text or base64"})
    content_type = file.get("content_type") or (
        "text/plain" if "text" in file else "application/octet-stream"
    )
    if not isinstance(content_type, str) or not _MEDIA_TYPE.fullmatch(content_type):
        raise Invalid({f"{field}.content_type": "is not a media type"})
    filename = file["filename"].translate(_ESCAPES)
    headers = f'{_disposition(name)}; filename="{filename}"\r\nContent-Type: {content_type}'
    return headers, _file_content(file, field)


def _file_content(file: Mapping[str, Any], field: str) -> bytes:
    text, encoded = file.get("text"), file.get("base64")
    if isinstance(text, str) and encoded is None:
        return text.encode(errors="replace")
    if not isinstance(encoded, str) or text is not None:
        raise Invalid({field: "must have its content either as text or as base64"})
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid({f"{field}.base64": "is not base64"}) from None


def _disposition(name: str) -> str:
    return f'Content-Disposition: form-data; name="{name.translate(_ESCAPES)}"'
