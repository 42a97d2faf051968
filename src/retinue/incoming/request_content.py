"""The content of a sender's request: headers, the part of them that is stored, and the JSON body."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from retinue.kit.errors import InvalidJson
from retinue.kit.http.bodies import check_json_shape
from retinue.kit.text.redaction import MASK

_MAX_HEADERS = 64
_MAX_NAME_LENGTH = 100
_MAX_VALUE_LENGTH = 512
_MAX_PARAMETERS = 50
_SENSITIVE_NAME = re.compile(
    r"authori[sz]|authentic|(^|[-_])auth([-_]|$)|cookie|signature|^sig$|secret|token"
    r"|passw|passphrase|credential|api[-_]?key|access[-_]?key|session"
)


class RequestHeaders:
    """Headers by lower-case name; `single` ignores a header that was sent more than once."""

    __slots__ = ("_values",)

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in raw:
            self._values[name.decode("latin-1").lower()].append(value.decode("latin-1"))

    def single(self, name: str) -> str | None:
        values = self._values.get(name.lower(), ())
        return values[0] if len(values) == 1 else None

    def loggable(self, *excluded_names: str | None) -> dict[str, str]:
        """Return the headers to store, bounded in number and length, without signatures and secrets."""
        excluded = {name.lower() for name in excluded_names if name}
        names = [name for name in self._values if name not in excluded and not _SENSITIVE_NAME.search(name)]
        return {
            name[:_MAX_NAME_LENGTH]: _without_nul(", ".join(self._values[name]))[:_MAX_VALUE_LENGTH]
            for name in names[:_MAX_HEADERS]
        }


def loggable_query(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return the query parameters to store, truncated, with likely secrets masked."""
    return {
        name[:_MAX_NAME_LENGTH]: MASK if _SENSITIVE_NAME.search(name.lower()) else value[:_MAX_VALUE_LENGTH]
        for name, value in pairs[:_MAX_PARAMETERS]
    }


def loggable_content_type(headers: RequestHeaders) -> str | None:
    value = headers.single("content-type")
    return None if value is None else _without_nul(value)[:_MAX_VALUE_LENGTH]


def parse_payload(body: bytes) -> Any:
    """Parse the body as JSON regardless of its content type; an empty body is null."""
    if not body:
        return None
    check_json_shape(body)
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error


def _without_nul(text: str) -> str:
    return text.replace("\0", "")
