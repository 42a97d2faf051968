"""The history of a turn as the engine uses it: stored, or sent by a caller who keeps the conversation."""

import hashlib
from collections.abc import Sequence

import sqlalchemy as sa

from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import Compacted, HistoryEntry
from retinue.chat.engine.memory import CompactionClaim, ConversationMemory
from retinue.chat.message_tree import load_messages
from retinue.chat.models import ConversationSummary, Message
from retinue.chat.turn.compaction_claim import claim_summary
from retinue.chat.turn.history import ConversationHistory, load_entries, plain_entry
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import record_statement

_summaries = ConversationSummary.__table__
_FIND = record_statement(
    ConversationSummary,
    sa.select(_summaries).where(in_list(_summaries.c.key, "keys"), _summaries.c.lease_expires_at.is_(None)),
)


def conversation_memory(
    ctx: Context, conversation_id: str, history: ConversationHistory, seed: str, question_position: int
) -> ConversationMemory:
    if history.is_resent:
        return ResentMemory(ctx, conversation_id, history, seed)
    if history.path is not None:
        return BranchMemory(ctx, conversation_id, history, seed, question_position)
    return StoredMemory(ctx, conversation_id, history, seed, question_position)


class StoredMemory:
    """A conversation whose messages are stored."""

    def __init__(
        self,
        ctx: Context,
        conversation_id: str,
        history: ConversationHistory,
        seed: str,
        question_position: int,
    ) -> None:
        self._ctx = ctx
        self._conversation_id = conversation_id
        self._seed = seed
        self._path = history.path or ()
        self.entries: Sequence[HistoryEntry] = history.entries
        self.compacted = history.compacted
        self.has_older = history.has_older
        self.question_position = question_position

    async def find_compacted(self) -> Compacted:
        return self.compacted

    async def claim(self, compacted: Compacted, reach: int) -> CompactionClaim | Compacted:  # noqa: ARG002  the number says it
        number = compacted.number + 1
        return await claim_summary(
            self._ctx, self._conversation_id, f"{self._conversation_id}/{number}", number
        )

    async def load_entries(self, after: int, up_to: int, limit: int) -> Sequence[HistoryEntry]:
        ctx = self._ctx.detached()
        fence = PromptFence.of_seed(ctx, self._seed)
        return await load_entries(ctx, self._conversation_id, fence, after, up_to, limit)

    async def find_entry(self, id: str) -> HistoryEntry | None:
        ctx = self._ctx.detached()
        message = await ctx.db.get(Message, id)
        if message is None or message.conversation_id != self._conversation_id:
            return None
        return plain_entry(message, PromptFence.of_seed(ctx, self._seed))

    def message_id(self, position: int) -> str | None:
        return next((entry.id for entry in self.entries if entry.position == position), None)


class BranchMemory(StoredMemory):
    """One branch of a conversation with versions.

    A compaction is named by the last message that it concerns: it counts for all branches that have it.
    """

    async def claim(self, compacted: Compacted, reach: int) -> CompactionClaim | Compacted:
        number = compacted.number + 1
        key = f"{self._conversation_id}@{reach}/{number}"
        return await claim_summary(self._ctx, self._conversation_id, key, number, is_of_branch=True)

    async def load_entries(self, after: int, up_to: int, limit: int) -> Sequence[HistoryEntry]:
        ctx = self._ctx.detached()
        fence = PromptFence.of_seed(ctx, self._seed)
        nodes = [node for node in self._path if after < node.position <= up_to]
        return [plain_entry(row, fence) for row in await load_messages(ctx, nodes[:limit])]

    async def find_entry(self, id: str) -> HistoryEntry | None:
        is_of_branch = any(node.id == id for node in self._path)
        return await super().find_entry(id) if is_of_branch else None


class ResentMemory:
    """A conversation that the caller sends again with each request.

    What was left out is found by the messages it stands for, so a caller who changes one starts anew.
    """

    def __init__(self, ctx: Context, conversation_id: str, history: ConversationHistory, seed: str) -> None:
        self._ctx = ctx
        self._conversation_id = conversation_id
        self._seed = seed
        self._path = history.path or ()
        self.entries: Sequence[HistoryEntry] = history.entries
        self.compacted = history.compacted
        self.has_older = False
        self.question_position = len(history.entries) + 1

    def _keys(self) -> dict[str, int]:
        """Return a digest of the messages up to each position."""
        digest = hashlib.sha256(self._seed.encode(errors="surrogatepass"))
        keys: dict[str, int] = {}
        for entry in self.entries:
            for message in entry.messages:
                calls = ",".join(call.id for call in message.tool_calls)
                text = f"{message.role}\0{message.tool_call_id}\0{calls}\0{message.text()}\0"
                digest.update(text.encode(errors="surrogatepass"))
            keys[digest.copy().hexdigest()] = entry.position
        return keys

    async def find_compacted(self) -> Compacted:
        keys = self._keys()
        rows = await self._ctx.detached().db.rows(_FIND, keys=list_parameter(sorted(keys)))
        found = [row.compacted() for row in rows if row.compacted().reach <= keys[row.key]]
        return max(found, key=lambda compacted: compacted.reach, default=self.compacted)

    async def claim(self, compacted: Compacted, reach: int) -> CompactionClaim | Compacted:
        key = next(key for key, position in self._keys().items() if position == reach)
        return await claim_summary(self._ctx, self._conversation_id, key, compacted.number + 1)

    async def load_entries(self, after: int, up_to: int, limit: int) -> Sequence[HistoryEntry]:
        return [entry for entry in self.entries if after < entry.position <= up_to][:limit]

    async def find_entry(self, id: str) -> HistoryEntry | None:
        return next((entry for entry in self.entries if entry.id == id), None)

    def message_id(self, position: int) -> str | None:  # noqa: ARG002  such messages have no id
        return None
