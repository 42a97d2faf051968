"""The document during an import: its local references, skipped parts and remaining work budget."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any
from urllib.parse import unquote

from retinue.adapters.openapi.description import InvalidDocument, SkippedPart
from retinue.kit.json_types import JsonObject

_MAX_SKIPPED = 200
_MAX_REFERENCE_HOPS = 8
_MAX_MEDIA_TYPES = 50
_WORK_BUDGET = 400_000
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class UnusableOperation(Exception):
    """An operation that no tool can call; `why` is listed among the skipped parts."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ApiDocument:
    """A document; `is_swagger` means the 2.0 format, `patterns` caches which patterns are usable."""

    def __init__(self, document: Mapping[str, Any], *, is_swagger: bool) -> None:
        self.document = document
        self.is_swagger = is_swagger
        self.patterns: dict[str, bool] = {}
        self._skipped: dict[SkippedPart, None] = {}
        self._work_left = _WORK_BUDGET

    def skip(self, part: str, reason: str) -> None:
        if len(self._skipped) <= _MAX_SKIPPED:
            self._skipped[SkippedPart(clean_text(part, 200), reason)] = None

    def skipped(self) -> list[SkippedPart]:
        parts = list(self._skipped)
        return (
            parts
            if len(parts) <= _MAX_SKIPPED
            else [*parts[:_MAX_SKIPPED], SkippedPart("…", "further parts were skipped")]
        )

    def spend(self, amount: int = 1) -> None:
        self._work_left -= amount
        if self._work_left < 0:
            raise InvalidDocument(
                f"needs more than {_WORK_BUDGET:,} steps to read the operations and what they refer to; "
                "name fewer in `operations`"
            )

    @property
    def is_budget_low(self) -> bool:
        """Whether optional work should be skipped."""
        return self._work_left < _WORK_BUDGET // 2

    def follow(self, value: object) -> JsonObject:
        """Return the object itself or the one its references lead to, else {}."""
        for _ in range(_MAX_REFERENCE_HOPS):
            if not isinstance(value, dict):
                return {}
            if not isinstance(value.get("$ref"), str):
                return value
            value = self.find(value["$ref"])
        return {}

    def find(self, reference: str) -> Any:
        """Return the target of a local reference; references to other documents are never resolved."""
        self.spend(1 + len(reference) // 50)
        if not reference.startswith("#"):
            self.skip(f"the reference {reference}", "is outside the document")
            return None
        target: Any = self.document
        for part in reference[1:].split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isdecimal() and len(name) < 6:
                target = target[int(name)] if int(name) < len(target) else None
            else:
                target = target.get(name) if isinstance(target, dict) else None
        return target


def clean_text(value: object, max_length: int) -> str:
    """Return the text without control characters, cut to `max_length`."""
    if isinstance(value, float) or (type(value) is int and abs(value) < 10**18):
        value = str(value)
    if not isinstance(value, str):
        return ""
    return _UNPRINTABLE.sub("", value[: max_length * 2]).strip()[:max_length]


def plain_media_type(media_type: object) -> str:
    """Return the media type in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower() if isinstance(media_type, str) else ""


def is_json_media_type(media_type: object) -> bool:
    plain = plain_media_type(media_type)
    return plain.endswith(("/json", "+json")) or plain in {"*/*", "application/*"}


def json_body_schema(content: object) -> Any:
    """Return the schema of the first JSON media type, or None."""
    if not isinstance(content, dict):
        return None
    media_type = next(
        (content[name] for name in islice(content, _MAX_MEDIA_TYPES) if is_json_media_type(name)), None
    )
    return media_type.get("schema") if isinstance(media_type, dict) else None
