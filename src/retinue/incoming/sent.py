"""What a sender sent: its headers as they count here, what of them is kept, and the JSON of the body."""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from retinue.kit.errors import InvalidJson
from retinue.kit.http.bodies import check_json_shape
from retinue.kit.redaction import MASK

_MOST_HEADERS = 64
_LONGEST_NAME = 100
_LONGEST_VALUE = 512
_MOST_PARAMETERS = 50
_NEVER_KEPT = re.compile(
    r"authori[sz]|authentic|(^|[-_])auth([-_]|$)|cookie|signature|^sig$|secret|token"
    r"|passw|passphrase|credential|api[-_]?key|access[-_]?key|session"
)


class Headers:
    """By lower-case name; a name that came twice says two things, so for `one` it says nothing."""

    __slots__ = ("_values",)

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in raw:
            self._values[name.decode("latin-1").lower()].append(value.decode("latin-1"))

    def one(self, name: str) -> str | None:
        values = self._values.get(name.lower(), ())
        return values[0] if len(values) == 1 else None

    def kept(self, *left_out: str | None) -> dict[str, str]:
        """What the log shows: few, short, and nothing that proves or opens anything."""
        unwanted = {name.lower() for name in left_out if name}
        names = [name for name in self._values if name not in unwanted and not _NEVER_KEPT.search(name)]
        return {
            name[:_LONGEST_NAME]: _storable(", ".join(self._values[name]))[:_LONGEST_VALUE]
            for name in names[:_MOST_HEADERS]
        }


def kept_query(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """The parameters of the address, short, with a mask over what looks like a secret."""
    return {
        name[:_LONGEST_NAME]: MASK if _NEVER_KEPT.search(name.lower()) else value[:_LONGEST_VALUE]
        for name, value in pairs[:_MOST_PARAMETERS]
    }


def kept_content_type(headers: Headers) -> str | None:
    value = headers.one("content-type")
    return None if value is None else _storable(value)[:_LONGEST_VALUE]


def read_payload(body: bytes) -> Any:
    """Any JSON value, whatever the body says it is; nothing is `null`."""
    if not body:
        return None
    check_json_shape(body)
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidJson from error


def _storable(text: str) -> str:
    return text.replace("\0", "")
