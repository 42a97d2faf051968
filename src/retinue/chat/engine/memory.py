"""The storage of a conversation as a turn needs it: earlier messages, and one compaction at a time."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from retinue.chat.engine.history_entries import Compacted, HistoryEntry
from retinue.chat.engine.parts import Compaction, TokenUsage


class SummaryOrigin(msgspec.Struct, frozen=True):
    """The model that wrote a summary, and what it used."""

    model: str
    usage: TokenUsage


class CompactionClaim(Protocol):
    """The right to compact a conversation, which one turn at a time has."""

    async def finish(self, compacted: Compacted, report: Compaction, origin: SummaryOrigin | None) -> None:
        """Store the result, which later turns begin with."""

    async def abandon(self) -> None:
        """Leave the history as it was; another turn may compact it."""


class ConversationMemory(Protocol):
    """The messages before this turn's question.

    `entries` are those that `compacted` has no summary of; with `has_older`, only the newest of them.
    """

    entries: Sequence[HistoryEntry]
    compacted: Compacted
    has_older: bool
    question_position: int

    async def find_compacted(self) -> Compacted:
        """Return what an earlier turn has left out, also where the history does not name it."""

    async def claim(self, compacted: Compacted, reach: int) -> CompactionClaim | Compacted:
        """Return the right to compact up to the position `reach`, or the result of another turn."""

    async def load_entries(self, after: int, up_to: int, limit: int) -> Sequence[HistoryEntry]:
        """Return the first entries after a position as they were, without the content of attachments."""

    async def find_entry(self, id: str) -> HistoryEntry | None:
        """Return the entry with this id, as it was."""

    def message_id(self, position: int) -> str | None:
        """Return the id of a stored message among the entries."""
