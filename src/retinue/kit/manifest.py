"""What a domain is made of: the only thing anyone else must list."""

from typing import Any

import msgspec

from retinue.kit.db.models import Record
from retinue.kit.events.declare import Event
from retinue.kit.jobs.declare import JobKind
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind


class Permission(msgspec.Struct, frozen=True):
    key: str
    description: str
    roles: frozenset[str] = frozenset()

    @property
    def category(self) -> str:
        return self.key.partition(":")[0]


class Listener(msgspec.Struct, frozen=True):
    """After the commit, `job` runs for each event whose type matches (`*` for every event)."""

    event: str
    job: JobKind[Any]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    records: tuple[type[Record], ...] = ()
    routes: tuple[Any, ...] = ()
    events: tuple[type[Event], ...] = ()
    jobs: tuple[JobKind[Any], ...] = ()
    listeners: tuple[Listener, ...] = ()
    permissions: tuple[Permission, ...] = ()
    references: tuple[Reference, ...] = ()
    tool_kinds: tuple[ToolKind, ...] = ()
