"""The steps of an execution's nodes in order, stored so that every process streams the same events."""

from enum import StrEnum

import msgspec


class TrailEntryKind(StrEnum):
    started = "started"
    finished = "finished"
    approval_requested = "approval_requested"


class TrailEntry(msgspec.Struct, frozen=True, array_like=True):
    """One event of a node; it is stored as a short list, for instance `["started", "n1"]`."""

    kind: TrailEntryKind
    node_id: str
