"""The function with which a model reads messages that are left out of its prompt."""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from retinue.adapters.llm import ToolSpec
from retinue.chat.engine.call_outcomes import CallRefused
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import HistoryEntry, result_text
from retinue.chat.engine.memory import ConversationMemory
from retinue.kit.json_types import JsonObject
from retinue.knowledge.terms import STOP_WORDS, extract_terms

MAX_SEARCHED_MESSAGES = 5_000
_PAGE_LENGTH = 12_000
_MAX_QUERY_LENGTH = 400
_MAX_FOUND = 6
_EXCERPT_LENGTH = 1_200
_ENTRIES_PER_PAGE = 200
_PAGE_MARK = re.compile(r"#(\d{1,6})\Z")

RECALL_SPEC = ToolSpec(
    "recall",
    (
        "Reads older messages of this conversation that are left out here or only summarized. Give the id "
        "that stands beside what you want to read, or a query to find messages by their words. Use it before "
        "you say that you do not remember."
    ),
    {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "maxLength": _MAX_QUERY_LENGTH,
                "description": "Words of the messages to find.",
            },
            "id": {
                "type": "string",
                "maxLength": 200,
                "description": "The id of a message, or of the result of a call, as in msg_123/call_4.",
            },
        },
        "additionalProperties": False,
    },
)


class _Original(msgspec.Struct, frozen=True):
    """A message or the result of a call, under the id that `recall` takes."""

    id: str
    role: str
    text: str


async def recall(memory: ConversationMemory, arguments: JsonObject, fence: PromptFence) -> JsonObject:
    """Return the message with this id, or those that match the query best."""
    id, query = arguments.get("id"), arguments.get("query")
    if isinstance(id, str) and id.strip():
        return await _read(memory, id.strip(), fence)
    if isinstance(query, str) and query.strip():
        return await _find(memory, query.strip()[:_MAX_QUERY_LENGTH], fence)
    raise CallRefused("invalid_arguments", "Give the `id` of a message, or a `query`.")


async def _read(memory: ConversationMemory, id: str, fence: PromptFence) -> JsonObject:
    marked = _PAGE_MARK.search(id)
    page = int(marked[1]) if marked else 1
    wanted = id[: marked.start()] if marked else id
    entry = await memory.find_entry(wanted.partition("/")[0])
    originals = () if entry is None else _originals(entry, fence)
    original = next((one for one in originals if one.id == wanted), None)
    page_count = 0 if original is None else max(1, -(-len(original.text) // _PAGE_LENGTH))
    if original is None or not 1 <= page <= page_count:
        raise CallRefused("message_not_found", "There is no such message in this conversation.")
    start = (page - 1) * _PAGE_LENGTH
    shown: JsonObject = {"id": wanted, "role": original.role}
    if page_count > 1:
        shown |= {"page": page, "pages": page_count}
    if page < page_count:
        shown["next"] = f"{wanted}#{page + 1}"
    return {**shown, "text": original.text[start : start + _PAGE_LENGTH]}


async def _find(memory: ConversationMemory, query: str, fence: PromptFence) -> JsonObject:
    """Rank by shared words, rare ones first; messages say the same thing often, so the oldest wins a tie."""
    terms = [term for term in extract_terms(query) if term not in STOP_WORDS] or list(extract_terms(query))
    last = memory.question_position - 1
    after = max(0, last - MAX_SEARCHED_MESSAGES)
    is_whole = after == 0
    matches: list[tuple[_Original, frozenset[str]]] = []
    while entries := await memory.load_entries(after, last, _ENTRIES_PER_PAGE):
        for entry in entries:
            for original in _originals(entry, fence):
                found = frozenset(terms) & extract_terms(original.text).keys()
                if found:
                    matches.append((original, found))
        after = entries[-1].position
    counts = Counter(term for _, found in matches for term in found)
    best = sorted(matches, key=lambda match: -sum(1 / counts[term] for term in match[1]))[:_MAX_FOUND]
    result: JsonObject = {
        "messages": [
            {"id": one.id, "role": one.role, "text": _excerpt(one.text, found)} for one, found in best
        ]
    }
    if not is_whole:
        result["searched"] = f"the newest {MAX_SEARCHED_MESSAGES} messages"
    return result


def _originals(entry: HistoryEntry, fence: PromptFence) -> Iterator[_Original]:
    texts = []
    for message in entry.messages:
        if message.role == "tool":
            yield _Original(f"{entry.id}/{message.tool_call_id}", "tool", result_text(message, fence))
        elif text := message.text():
            texts.append(text)
    if texts:
        role = "user" if entry.is_question else "assistant"
        yield _Original(entry.id, role, "\n\n".join(texts))


def _excerpt(text: str, matched_words: frozenset[str]) -> str:
    """Return a short text whole, and a long one around the first word found."""
    if len(text) <= _EXCERPT_LENGTH:
        return text
    folded = text.casefold()
    first = min((at for term in matched_words if (at := folded.find(term)) >= 0), default=0)
    start = max(0, min(first - _EXCERPT_LENGTH // 4, len(text) - _EXCERPT_LENGTH))
    end = start + _EXCERPT_LENGTH
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
