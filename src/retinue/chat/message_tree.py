"""The tree that the messages of a conversation form once one of them has another version.

A message says by position which one it follows; one that does not say follows the message before it, so a
conversation without versions needs none of this. Positions grow along each path. A reply that is written
again answers a copy of its question (`repeats_position`), which no reader takes for another question.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from retinue.chat.models import Message, Speaker
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement

_messages = Message.__table__
_NODES = Statement(
    sa.select(
        _messages.c.id,
        _messages.c.position,
        _messages.c.parent_position,
        _messages.c.repeats_position,
        _messages.c.role,
    )
    .where(_messages.c.conversation_id == sa.bindparam("conversation_id"))
    .order_by(_messages.c.position)
)
_BY_ID = record_statement(
    Message,
    sa.select(_messages).where(in_list(_messages.c.id, "ids")).order_by(_messages.c.position),
    heavy=True,
)


class MessageNode(msgspec.Struct, frozen=True):
    """A message in the tree; `parent` is 0 for one that a conversation begins with."""

    id: str
    position: int
    parent: int
    original: int
    is_question: bool


class MessageVersions(msgspec.Struct, frozen=True):
    """Which of its versions a message is, and the newest message that each of them leads to."""

    at: int = 1
    of: int = 1
    leaf_ids: list[str] = []


class MessageTree:
    def __init__(self, nodes: Sequence[MessageNode]) -> None:
        self._nodes = {node.position: node for node in nodes}
        self._ids = {node.id: node for node in nodes}
        self._children: defaultdict[int, list[MessageNode]] = defaultdict(list)
        self._newest = {node.position: node.position for node in nodes}
        for node in nodes:
            self._children[node.parent].append(node)
        for node in reversed(nodes):
            if node.parent in self._newest:
                self._newest[node.parent] = max(self._newest[node.parent], self._newest[node.position])

    @property
    def newest(self) -> int:
        """The position of the newest message; 0 without any."""
        return max(self._nodes, default=0)

    def find(self, id: str) -> MessageNode | None:
        return self._ids.get(id)

    def at(self, position: int) -> MessageNode | None:
        return self._nodes.get(position)

    def path(self, position: int) -> tuple[MessageNode, ...]:
        """Return the messages up to a position, oldest first."""
        path = []
        node = self._nodes.get(position)
        while node is not None:
            path.append(node)
            node = self._nodes.get(node.parent)
        return tuple(reversed(path))

    def replies_to(self, question: MessageNode) -> list[MessageNode]:
        """Return the replies to a question and its copies, oldest first."""
        asked = [one for one in self._questions_beside(question) if one.original == question.original]
        return sorted(
            (reply for one in asked for reply in self._children[one.position] if not reply.is_question),
            key=lambda reply: reply.position,
        )

    def replies_of_turn(self, question: MessageNode) -> list[MessageNode]:
        """Return the replies to each version of a question."""
        return [
            reply
            for one in self._questions_beside(question)
            for reply in self._children[one.position]
            if not reply.is_question
        ]

    def unanswered_versions(self, question: MessageNode) -> list[MessageNode]:
        """Return the versions of a question that have no reply."""
        return [
            one
            for one in self._questions_beside(question)
            if all(next.is_question for next in self._children[one.position])
        ]

    def place(self, node: MessageNode) -> MessageVersions:
        """Return which version of its kind a message is."""
        if node.is_question:
            groups: defaultdict[int, int] = defaultdict(int)
            for one in self._questions_beside(node):
                groups[one.original] = max(groups[one.original], self._newest[one.position])
            ends, at = list(groups.values()), list(groups).index(node.original)
        else:
            question = self._nodes.get(node.parent)
            versions = self.replies_to(question) if question is not None and question.is_question else [node]
            ends, at = [self._newest[one.position] for one in versions], versions.index(node)
        leaf_ids = [self._nodes[end].id for end in ends] if len(ends) > 1 else []
        return MessageVersions(at + 1, len(ends), leaf_ids)

    def _questions_beside(self, question: MessageNode) -> list[MessageNode]:
        return [one for one in self._children[question.parent] if one.is_question]


async def load_tree(ctx: Context, conversation_id: str) -> MessageTree:
    return MessageTree([_node(*row) for row in await ctx.db.rows(_NODES, conversation_id=conversation_id)])


def tree_of(messages: Sequence[Message]) -> MessageTree:
    """Return the tree of all messages of one conversation, given oldest first."""
    return MessageTree(
        [
            _node(
                message.id, message.position, message.parent_position, message.repeats_position, message.role
            )
            for message in messages
        ]
    )


def _node(id: str, position: int, parent: int | None, original: int | None, role: str) -> MessageNode:
    return MessageNode(
        id,
        position,
        position - 1 if parent is None else parent,
        position if original is None else original,
        role == Speaker.user,
    )


async def load_messages(ctx: Context, nodes: Sequence[MessageNode]) -> list[Message]:
    """Return these messages, oldest first."""
    return await ctx.db.rows(_BY_ID, ids=list_parameter([node.id for node in nodes])) if nodes else []
