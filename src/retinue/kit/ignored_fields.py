"""Names in a request that have no effect: warned about, or refused if the caller is strict (ADR 42)."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from retinue.kit.errors import Invalid
from retinue.kit.schema.unknown_keys import MAX_UNKNOWN_KEYS, find_unknown_keys

IGNORED_FIELD_PREFIX = "ignored_field:"
UNKNOWN_FIELD = "is not a known field"


class IgnoredFields:
    """Collects the unknown names of one request; a strict request is refused at the first report."""

    __slots__ = ("_below", "_paths", "is_strict", "of_body")

    def __init__(self, *, is_strict: bool = False) -> None:
        self.is_strict = is_strict
        # A request that is repeated after a rollback reports the same names again.
        self._paths: dict[str, None] = {}
        self.of_body: frozenset[str] = frozenset()
        """Names that the type of the body lacks; an object that was read may be sent back with them."""
        self._below = ""

    def report(self, paths: Sequence[str]) -> None:
        """Remember names without effect; raise `Invalid` with all of them if the request is strict."""
        if not paths:
            return
        if self.is_strict:
            raise Invalid(dict.fromkeys(paths, UNKNOWN_FIELD))
        self.remember(paths)

    def remember(self, paths: Sequence[str]) -> None:
        """Remember names without effect that even a strict request may have."""
        self._paths.update(dict.fromkeys(self._below + path for path in paths))

    @contextlib.contextmanager
    def below(self, path: str) -> Iterator[None]:
        """Report what happens inside under a path, such as that of one operation of a batch."""
        before, self._below = self._below, f"{self._below}{path}."
        try:
            yield
        finally:
            self._below = before

    @property
    def has_paths(self) -> bool:
        return bool(self._paths)

    @property
    def paths(self) -> list[str]:
        return list(self._paths)[:MAX_UNKNOWN_KEYS]

    def warnings(self) -> tuple[str, ...]:
        return ignored_field_warnings(self.paths)


def ignored_field_warnings(unknown_fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{IGNORED_FIELD_PREFIX}{name}" for name in unknown_fields)


def report_unknown_keys(ignored: IgnoredFields | None, value: Any, shape: Any, path: str) -> None:
    """Report the unknown keys of an object that is sent as a free one and declared by its kind.

    `ignored` is `ctx.caller.ignored`: None in a job, where nobody waits for warnings.
    """
    if ignored is not None:
        ignored.report(find_unknown_keys(value, shape, path))
