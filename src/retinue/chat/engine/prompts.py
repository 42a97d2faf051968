"""Prompts: each request of a conversation begins with the whole of the one before it (ADR 26).

A provider charges a fraction for what it has read before, so what changes from turn to turn stands last: the
passages found and the caller's context form the tail of a request and are not repeated in later turns.
"""

from collections.abc import Sequence

import msgspec

from retinue.adapters.llm import ContentPart, ImageData, ModelMessage, PromptCache, TextContent
from retinue.adapters.llm.estimates import IMAGE_TOKENS, estimate_tokens
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import Compacted
from retinue.chat.engine.task import TurnTask
from retinue.kit.context import Context
from retinue.knowledge.retrieval import Passage
from retinue.tools.models import ToolImage

MAX_TOOL_RESULT_CHARACTERS = 16_000

_CONTEXT_NOTE = "What the application says about this conversation:"
_SUMMARY_NOTE = (
    "The older messages of this conversation are left out. This is a summary of them; each [msg …] is the id "
    "by which `recall` reads the message itself."
)
_PASSAGES_NOTE = "Answer from these passages where they help, and name their numbers like [1]:"


def build_beginning(
    task: TurnTask, fence: PromptFence, compacted: Compacted, history: Sequence[ModelMessage]
) -> list[ModelMessage]:
    """Return what stands before the message to answer: the agent's prompt, a summary and the history."""
    prompt = task.agent.system_prompt
    is_noted = _may_see_material(task) or compacted.number
    beginning = [ModelMessage(role="system", content=f"{prompt}\n\n{fence.note}" if is_noted else prompt)]
    if not compacted.summary:
        return [*beginning, *_from_first_question(history)]
    summary = f"{_SUMMARY_NOTE}\n{fence.note}\n{fence.around(compacted.summary)}"
    return [*beginning, ModelMessage(role="user", content=summary), *history]


def _may_see_material(task: TurnTask) -> bool:
    """Return whether any turn of this agent may quote untrusted text; a delegated task may as well."""
    agent = task.agent
    return bool(
        agent.knowledge_base_id
        or agent.tool_count
        or agent.sub_agent_count
        or agent.web_search.enabled
        or task.depth
    )


def build_cache(ctx: Context, task: TurnTask, conversation: Sequence[ModelMessage]) -> PromptCache:
    """Return what a provider's cache is told: which conversation this is, and where this turn begins."""
    return PromptCache(
        seed=f"{ctx.tenant_id}\0{task.seed}",
        ttl=task.agent.cache_ttl.value,
        history_length=find_turn_start(conversation),
    )


def find_turn_start(conversation: Sequence[ModelMessage]) -> int:
    """Return where the message to answer stands."""
    return max(at for at, message in enumerate(conversation) if message.role == "user")


def build_tail(task: TurnTask, passages: Sequence[Passage], fence: PromptFence) -> str:
    """Return what is true for this turn only: the caller's context and the passages found."""
    parts = []
    if task.context:
        context_json = msgspec.json.encode(task.context, order="sorted").decode()
        parts.append(f"{_CONTEXT_NOTE}\n{fence.around(context_json)}")
    if passages:
        numbered = "\n\n".join(
            f"[{number}] {_origin(passage)}\n{passage.text}" for number, passage in enumerate(passages, 1)
        )
        parts.append(f"{_PASSAGES_NOTE}\n{fence.around(numbered)}")
    if parts and not _may_see_material(task):
        parts.insert(0, fence.note)
    return "\n\n".join(parts)


def _origin(passage: Passage) -> str:
    page = f", page {passage.page}" if passage.page is not None else ""
    return f"{passage.document_name}{page}"


def tool_message(
    call_id: str,
    output: object,
    fence: PromptFence,
    images: Sequence[ToolImage] = (),
    *,
    is_error: bool = False,
) -> ModelMessage:
    """Return the result of a call, with its images behind it."""
    # Sorted, because PostgreSQL does not keep the order of keys, and the result is sent again in later turns.
    text = (
        output
        if isinstance(output, str)
        else msgspec.json.encode(output, order="sorted").decode(errors="replace")
    )
    if len(text) > MAX_TOOL_RESULT_CHARACTERS:
        text = f"{text[:MAX_TOOL_RESULT_CHARACTERS]}\n(cut off, {len(text)} characters in all)"
    content: str | tuple[ContentPart, ...] = fence.around(text)
    if images:
        parts = (part for image in images for part in _image_parts(image))
        content = (TextContent(fence.around(text)), *parts)
    return ModelMessage(role="tool", tool_call_id=call_id, content=content, is_error=is_error)


def _image_parts(image: ToolImage) -> tuple[ContentPart, ...]:
    if not image.is_shown:
        return (TextContent(f"(Image of this result: {image.file_id}, left out here.)"),)
    label = TextContent(f"(Image of this result: {image.file_id})")
    return label, ImageData(image.mime_type, base64="", file_id=image.file_id)


def estimate_prompt_tokens(conversation: Sequence[ModelMessage], tail: str) -> int:
    """Return what a request probably takes; an image counts as `IMAGE_TOKENS`."""
    characters, images = len(tail), 0
    for message in conversation:
        characters += len(message.text())
        if not isinstance(message.content, str):
            images += sum(isinstance(part, ImageData) for part in message.content)
    return estimate_tokens(characters) + images * IMAGE_TOKENS


def _from_first_question(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    first = next((at for at, message in enumerate(messages) if message.role == "user"), len(messages))
    return list(messages[first:])
