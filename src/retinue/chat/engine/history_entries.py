"""Earlier messages of a conversation in prompts, and what is left out of them (ADR 32).

Requests of a conversation begin alike, so what is left out is a matter of record: `Compacted` says up to
which position, and the same entries always give the same prompt.
"""

from collections.abc import Iterable, Sequence

import msgspec

from retinue.adapters.llm import ContentPart, ImageData, ModelMessage, TextContent
from retinue.adapters.llm.estimates import CHARACTERS_PER_TOKEN, IMAGE_TOKENS, MESSAGE_TOKENS
from retinue.chat.engine.attached import Attachment
from retinue.chat.engine.fence import PromptFence

_MAX_TOOL_NAME_LENGTH = 64


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the model gets it: a question, or a reply with its calls and their results.

    `id` is its name for `recall`. `attachment_lines` stand for its attachments once they are left out.
    `context_tokens` is what the last request of the turn and its answer took, if the provider said so.
    """

    id: str
    position: int
    messages: tuple[ModelMessage, ...]
    attachments: tuple[Attachment, ...] = ()
    attachment_lines: tuple[ContentPart, ...] = ()
    context_tokens: int = 0

    @property
    def is_question(self) -> bool:
        return bool(self.messages) and self.messages[0].role == "user"


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a history that is left out, by positions.

    `summary` stands for the messages up to `up_to`. Results of calls are left out up to `results_up_to`, and
    attachments up to `attachments_up_to`. `made_at` is the position of the question that made it necessary.
    `documents` are those of summarized messages. `number` counts the compactions of the conversation.
    """

    number: int = 0
    summary: str = ""
    up_to: int = 0
    results_up_to: int = 0
    attachments_up_to: int = 0
    made_at: int = 0
    documents: tuple[Attachment, ...] = ()

    @property
    def reach(self) -> int:
        """The last position of which anything is left out."""
        return max(self.up_to, self.results_up_to, self.attachments_up_to)


NOT_COMPACTED = Compacted()


def render(entries: Iterable[HistoryEntry], compacted: Compacted, fence: PromptFence) -> list[ModelMessage]:
    """Return the messages of a prompt; consecutive texts of one role are joined into one."""
    rendered: list[ModelMessage] = []
    for entry in entries:
        if entry.position <= compacted.up_to:
            continue
        for message in shortened(entry, compacted, fence):
            if rendered and _are_joined(rendered[-1], message):
                content = _joined_content(rendered[-1], message)
                rendered[-1] = msgspec.structs.replace(message, content=content)
            else:
                rendered.append(message)
    return rendered


def shortened(entry: HistoryEntry, compacted: Compacted, fence: PromptFence) -> tuple[ModelMessage, ...]:
    messages = entry.messages
    if entry.position <= compacted.results_up_to:
        messages = without_results(entry, fence)
    if entry.attachment_lines and entry.position <= compacted.attachments_up_to:
        messages = without_attachments(entry)
    return messages


def without_results(entry: HistoryEntry, fence: PromptFence) -> tuple[ModelMessage, ...]:
    """Return the messages of a reply with a line in place of each result that is longer than the line."""
    names = {call.id: call.name for message in entry.messages for call in message.tool_calls}
    return tuple(_without_result(message, entry.id, names, fence) for message in entry.messages)


def _without_result(
    message: ModelMessage, entry_id: str, names: dict[str, str], fence: PromptFence
) -> ModelMessage:
    if message.role != "tool":
        return message
    result = message.text()
    name = names.get(message.tool_call_id, "unknown")[:_MAX_TOOL_NAME_LENGTH]
    length = len(result_text(message, fence))
    recall_id = f"{entry_id}/{message.tool_call_id}"
    line = f"(result of {name}, {length} characters, left out; recall id {recall_id})"
    is_shorter = len(line) < len(result) or not isinstance(message.content, str)
    return msgspec.structs.replace(message, content=line) if is_shorter else message


def result_text(message: ModelMessage, fence: PromptFence) -> str:
    """Return the text of a result without its fence; lines about its images stand behind it."""
    if isinstance(message.content, str):
        return fence.inside(message.content)
    first, *lines = (part.text for part in message.content if isinstance(part, TextContent))
    return "\n".join((fence.inside(first), *lines))


def without_attachments(entry: HistoryEntry) -> tuple[ModelMessage, ...]:
    """Return a question with a line in place of each attachment."""
    first, *rest = entry.messages
    text = TextContent(first.content) if isinstance(first.content, str) else first.content[0]
    return (msgspec.structs.replace(first, content=(text, *entry.attachment_lines)), *rest)


def split_turns(entries: Sequence[HistoryEntry]) -> list[Sequence[HistoryEntry]]:
    """Return the entries of each turn; a question that was not answered belongs to the next one."""
    if not entries:
        return []
    starts = [
        at
        for at, entry in enumerate(entries)
        if entry.is_question and (at == 0 or not entries[at - 1].is_question)
    ]
    if not starts or starts[0]:
        starts.insert(0, 0)
    return [entries[start:end] for start, end in zip(starts, [*starts[1:], len(entries)], strict=True)]


def tokens_of(messages: Iterable[ModelMessage]) -> float:
    """Return what messages probably take in a prompt."""
    tokens = 0.0
    for message in messages:
        tokens += len(message.text()) / CHARACTERS_PER_TOKEN + MESSAGE_TOKENS
        if not isinstance(message.content, str):
            tokens += sum(isinstance(part, ImageData) for part in message.content) * IMAGE_TOKENS
    return tokens


def _are_joined(last: ModelMessage, next: ModelMessage) -> bool:
    return last.role == next.role != "tool" and not last.tool_calls


def _joined_content(last: ModelMessage, next: ModelMessage) -> str | tuple[ContentPart, ...]:
    if isinstance(last.content, str) and isinstance(next.content, str):
        return f"{last.content}\n\n{next.content}"
    return (*_parts_of(last), *_parts_of(next))


def _parts_of(message: ModelMessage) -> tuple[ContentPart, ...]:
    return (TextContent(message.content),) if isinstance(message.content, str) else message.content
