"""A form with one recording in it, as transcriptions are asked for."""

import re
import secrets
from collections.abc import Mapping

from retinue.adapters.llm.messages import Audio

_ODD_IN_NAMES = re.compile(r"[^\w.\- ]")
_MIME_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)


def encode_form(fields: Mapping[str, str], audio: Audio) -> tuple[bytes, str]:
    """The body and its content type; nothing in a name or a value can end its part."""
    boundary = f"retinue-{secrets.token_hex(16)}"
    filename = _ODD_IN_NAMES.sub("_", audio.filename) or "audio"
    mime_type = audio.mime_type if _MIME_TYPE.fullmatch(audio.mime_type) else "application/octet-stream"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        f"Content-Type: {mime_type}\r\n\r\n"
    )
    body = "".join(parts).encode() + audio.content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"
