"""The registry: the declarations of all manifests, by type."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast

from retinue.kit.db.models import Record
from retinue.kit.events.declare import Event, Listener

T = TypeVar("T")


class DeclaredParts(Protocol):
    """The parts of a manifest that the registry reads."""

    @property
    def records(self) -> tuple[type[Record], ...]: ...

    @property
    def events(self) -> tuple[type[Event], ...]: ...

    @property
    def routes(self) -> tuple[Any, ...]: ...

    @property
    def declared(self) -> tuple[Any, ...]:
        """Instances of any type: listeners, job handlers, tool kinds and so on."""


class Registry:
    def __init__(self, manifests: Sequence[DeclaredParts]) -> None:
        self.records = tuple(record for manifest in manifests for record in manifest.records)
        self.events = tuple(event for manifest in manifests for event in manifest.events)
        self.routes = tuple(
            route for manifest in manifests for group in manifest.routes for route in group.routes
        )
        by_type: defaultdict[type, list[Any]] = defaultdict(list)
        for manifest in manifests:
            for declaration in manifest.declared:
                by_type[type(declaration)].append(declaration)
        self._by_type = {kind: tuple(declarations) for kind, declarations in by_type.items()}
        self._listened_types = frozenset(listener.event for listener in self.all(Listener))

    def all(self, kind: type[T]) -> tuple[T, ...]:
        """Return the declarations of this type, in the order of the domains."""
        return cast("tuple[T, ...]", self._by_type.get(kind, ()))

    def has_listener(self, event_type: str) -> bool:
        """Return whether a domain listens to events of this type."""
        return event_type in self._listened_types or "*" in self._listened_types
