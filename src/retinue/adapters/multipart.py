"""Encoding of a form as multipart/form-data."""

import re
import secrets
from collections.abc import Mapping

import msgspec

from retinue.adapters.api_client import ApiBody

_UNSAFE_IN_NAMES = re.compile(r"[^\w.\- ]")
_MIME_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)


class FormFile(msgspec.Struct, frozen=True):
    """A file in the field `file`; unsafe characters of its name and an invalid type are replaced."""

    content: bytes
    filename: str
    mime_type: str


def multipart_body(fields: Mapping[str, str], file: FormFile | None = None) -> ApiBody:
    """Return the body; the random boundary keeps values from ending their part."""
    boundary = f"retinue-{secrets.token_hex(16)}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    if file is not None:
        parts += [f"--{boundary}\r\n{_file_head(file)}".encode(), file.content, b"\r\n"]
    parts.append(f"--{boundary}--\r\n".encode())
    return ApiBody(b"".join(parts), f"multipart/form-data; boundary={boundary}")


def _file_head(file: FormFile) -> str:
    filename = _UNSAFE_IN_NAMES.sub("_", file.filename)
    mime_type = file.mime_type if _MIME_TYPE.fullmatch(file.mime_type) else "application/octet-stream"
    return (
        f'Content-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        f"Content-Type: {mime_type}\r\n\r\n"
    )
