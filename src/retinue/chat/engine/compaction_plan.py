"""The plan of a compaction: in tiers, each only if the one before does not suffice (ADR 32)."""

from collections.abc import Sequence

import msgspec

from retinue.adapters.llm.estimates import CHARACTERS_PER_TOKEN
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import (
    Compacted,
    HistoryEntry,
    shortened,
    split_turns,
    tokens_of,
    without_attachments,
    without_results,
)
from retinue.kit.errors import RetinueError

RESULTS_TIER, ATTACHMENTS_TIER, SUMMARY_TIER = 1, 2, 3
TARGET_SHARE = 0.6
"""A compaction goes down to this share of the limit, so that the next one is many turns away."""
MAX_SUMMARY_TOKENS = 1_500
_MAX_SUMMARY_SHARE = 4
_TURNS_WITH_RESULTS = 2
# Four turns stay as they are. Fewer do if they alone are too long; otherwise nothing could be said any more.
_TURNS_KEPT = (4, 2, 1, 0)
_WORTHWHILE_SHARE = 0.9


class ContextTooLong(RetinueError):
    """The conversation is too long for the agent's model. Send less, or start a new conversation."""

    status, code = 422, "context_too_long"

    def __init__(self, tokens: float = 0, limit: int = 0) -> None:
        super().__init__(details={"tokens": round(tokens), "limit": limit} if limit else None)


class CompactionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The messages left out by the first two tiers, the `tokens` then, and the end of a necessary summary."""

    compacted: Compacted
    tiers: tuple[int, ...]
    tokens: float
    summarized_up_to: int = 0

    @property
    def reach(self) -> int:
        return max(self.compacted.reach, self.summarized_up_to)


class CompactionPlanner:
    """Plans for one request; `scale` is how many tokens the provider counts for each one estimated."""

    def __init__(
        self, entries: Sequence[HistoryEntry], compacted: Compacted, fence: PromptFence, scale: float
    ) -> None:
        self._entries = [entry for entry in entries if entry.position > compacted.up_to]
        self._turns = split_turns(self._entries)
        self._compacted = compacted
        self._fence = fence
        self._scale = scale

    def plan(self, tokens: float, limit: int, *, has_older: bool) -> CompactionPlan:
        """Return what to leave out of a request with these tokens.

        Raise ContextTooLong if nothing would make it fit.
        """
        target, tiers = limit * TARGET_SHARE, []
        before = tokens
        compacted, tokens = self._leave_out_results(self._compacted, tokens, target)
        if compacted.results_up_to > self._compacted.results_up_to:
            tiers.append(RESULTS_TIER)
        compacted, tokens = self._leave_out_attachments(compacted, tokens, target)
        if compacted.attachments_up_to > self._compacted.attachments_up_to:
            tiers.append(ATTACHMENTS_TIER)
        up_to = 0
        if tokens > target or has_older:
            up_to = self._summarized_up_to(compacted, tokens, limit, has_older=has_older)
        if not up_to and (tokens > limit or has_older):
            raise ContextTooLong(before, limit)
        return CompactionPlan(compacted=compacted, tiers=tuple(tiers), tokens=tokens, summarized_up_to=up_to)

    def _leave_out_results(
        self, compacted: Compacted, tokens: float, target: float
    ) -> tuple[Compacted, float]:
        for entry in self._older_than(_TURNS_WITH_RESULTS):
            if tokens <= target:
                break
            if entry.position > compacted.results_up_to:
                saved = tokens_of(entry.messages) - tokens_of(without_results(entry, self._fence))
                if saved > 0:
                    tokens -= saved * self._scale
                    compacted = msgspec.structs.replace(compacted, results_up_to=entry.position)
        return compacted, tokens

    def _leave_out_attachments(
        self, compacted: Compacted, tokens: float, target: float
    ) -> tuple[Compacted, float]:
        for entry in self._older_than(_TURNS_WITH_RESULTS):
            if tokens <= target:
                break
            if entry.attachment_lines and entry.position > compacted.attachments_up_to:
                saved = tokens_of(entry.messages) - tokens_of(without_attachments(entry))
                if saved > 0:
                    tokens -= saved * self._scale
                    compacted = msgspec.structs.replace(compacted, attachments_up_to=entry.position)
        return compacted, tokens

    def _older_than(self, turn_count: int) -> list[HistoryEntry]:
        return [entry for turn in self._turns[: -turn_count or None] for entry in turn]

    def _summarized_up_to(self, compacted: Compacted, tokens: float, limit: int, *, has_older: bool) -> int:
        """Return the last position that a summary has to cover; 0 if no summary helps."""
        is_needed = tokens > limit or has_older
        for kept in _TURNS_KEPT if is_needed else _TURNS_KEPT[:1]:
            old = self._turns[: len(self._turns) - kept]
            if not old:
                continue
            replaced = sum(self._tokens_of(entry, compacted) for turn in old for entry in turn)
            after = tokens - replaced - self._summary_tokens(compacted) + max_summary_tokens(limit)
            if after <= (limit if is_needed else tokens * _WORTHWHILE_SHARE):
                return old[-1][-1].position
        return 0

    def _tokens_of(self, entry: HistoryEntry, compacted: Compacted) -> float:
        return tokens_of(shortened(entry, compacted, self._fence)) * self._scale

    def _summary_tokens(self, compacted: Compacted) -> float:
        return len(compacted.summary) / CHARACTERS_PER_TOKEN * self._scale


def max_summary_tokens(limit: int) -> int:
    """Return how long a summary may be; under a small limit it must leave room for the conversation."""
    return min(MAX_SUMMARY_TOKENS, limit // _MAX_SUMMARY_SHARE)
