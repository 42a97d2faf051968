"""Search among an agent's functions, for agents with more than a model can oversee at once.

Such an agent is offered two functions instead: one finds functions by a description, the other calls one of
them. The list of offered functions therefore never changes within a conversation, and stays in the
provider's cache. Functions are found as passages are (ADR 12): by similarity and by shared words. A job makes
their vectors (`function_vectors`); until they are there, words alone decide.
"""

import contextlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from retinue.adapters.llm import ToolCall, ToolSpec
from retinue.agents.settings import ToolSearch
from retinue.chat.engine.function_vectors import key_of, load_vectors, request_vectors
from retinue.chat.engine.tool_functions import ToolFunction
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.knowledge.chunks import Vectors
from retinue.knowledge.embedding import default_embedding_model, vectors_of
from retinue.knowledge.errors import EmbeddingFailed
from retinue.knowledge.ranking import Rows, best_hits, similarities, word_scores
from retinue.knowledge.terms import STOP_WORDS, extract_terms, query_terms
from retinue.usage.model_call import SpendingHold

MAX_OFFERED_FUNCTIONS = 20
MAX_OFFERED_CHARACTERS = 24_000
MAX_ALWAYS_OFFERED = 16
MAX_FOUND = 10
# Each is embedded once, by a job; more would keep a core busy for minutes.
MAX_SEARCHED_FUNCTIONS = 2_000

_DEFAULT_FOUND = 5
# Below the length at which results are cut off for the model.
_MAX_RESULT_CHARACTERS = 15_000
_MAX_TEXT_LENGTH = 600
# A search without vectors asks for them, in case that the job for a change was lost or failed.
_REQUEST_SECONDS = 300.0
_MAX_KEPT_INDEXES = 64
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-./]+")

FIND_SPEC = ToolSpec(
    name="tool_search",
    description=(
        "Finds functions that you can use beyond those listed here, and returns their names, descriptions "
        "and input schemas. Search before you say that something cannot be done. Use a function that you "
        "found with call_tool."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": 400,
                "description": "What the function should do, in a few words.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_FOUND,
                "description": f"How many functions to return; {_DEFAULT_FOUND} if left out.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
CALL_SPEC = ToolSpec(
    name="call_tool",
    description="Calls a function that tool_search has found. The input must match its input schema.",
    input_schema={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the function."},
            "input": {"type": "object", "description": "The function's input."},
        },
        "required": ["name", "input"],
        "additionalProperties": False,
    },
)
_CALL_PROPERTIES = frozenset(CALL_SPEC.input_schema["properties"])


def is_searched(mode: ToolSearch, functions: Sequence[ToolFunction]) -> bool:
    """Return whether an agent searches these functions rather than being offered all of them."""
    if mode is ToolSearch.off or not functions:
        return False
    if mode is ToolSearch.always or len(functions) > MAX_OFFERED_FUNCTIONS:
        return True
    characters = sum(len(msgspec.json.encode(function.schema)) for function in functions)
    return characters > MAX_OFFERED_CHARACTERS


def unwrap_call(call: ToolCall, functions: Mapping[str, ToolFunction]) -> ToolCall:
    """Return the call of a searched function that a call of `call_tool` stands for; others as they are."""
    if call.name != CALL_SPEC.name or call.arguments is None:
        return call
    # An input under another name would be lost, and the function would run without it.
    if not call.arguments.keys() <= _CALL_PROPERTIES:
        return call
    name, input = call.arguments.get("name"), call.arguments.get("input", {})
    if isinstance(input, str):
        # Some models write the input as text.
        input = _decoded(input)
    if not isinstance(name, str) or name not in functions or not isinstance(input, dict):
        return call
    return ToolCall(call.id, name, input, raw_arguments="")


def wrap_call(call: ToolCall) -> ToolCall:
    """Return the call of `call_tool` for a searched function, as the model writes it."""
    arguments = {"name": call.name, "input": call.arguments or {}}
    return ToolCall(call.id, CALL_SPEC.name, arguments, raw_arguments="")


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


class FunctionIndexes:
    """Indexes of the functions of agents used lately, by their content; one for each process."""

    def __init__(self, _instance: object = None) -> None:
        self._kept: OrderedDict[str, _FunctionIndex] = OrderedDict()

    def index_of(self, functions: Mapping[str, ToolFunction]) -> "_FunctionIndex":
        texts = describe_functions(functions)
        key = key_of(texts)
        index = self._kept.get(key)
        if index is None:
            index = self._kept[key] = _FunctionIndex(texts)
            if len(self._kept) > _MAX_KEPT_INDEXES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return index


class _FunctionIndex:
    """The words and vectors of some functions, in their order."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._vectors: Vectors | None = None
        self._request_at = 0.0
        self._rows: dict[str, list[int]] = {}
        for row, text in enumerate(texts):
            for word in extract_terms(text):
                if word not in STOP_WORDS:
                    self._rows.setdefault(word, []).append(row)

    async def find(self, ctx: Context, query: str, limit: int, hold: SpendingHold) -> list[int]:
        """Return the rows of the best functions, best first; by words alone while vectors are missing."""
        words = word_scores(self._postings(query), len(self._texts), common=len(self._texts) + 1)
        vectors = await self._find_vectors(ctx)
        similarity = None
        if vectors is not None:
            with contextlib.suppress(EmbeddingFailed):
                similarity = similarities(vectors, await _embed(ctx, query, hold))
        return [hit.row for hit in best_hits(similarity, words, None, limit)]

    def _postings(self, query: str) -> list[Rows]:
        wanted = query_terms(_split_words(query))
        return [np.asarray(self._rows.get(word, ()), np.int64) for word in wanted]

    async def _find_vectors(self, ctx: Context) -> Vectors | None:
        if self._vectors is None:
            self._vectors = await load_vectors(ctx, self._texts)
        now = ctx.clock.monotonic()
        if self._vectors is None and now >= self._request_at:
            self._request_at = now + _REQUEST_SECONDS
            await request_vectors(ctx, self._texts)
        return self._vectors


async def _embed(ctx: Context, text: str, hold: SpendingHold) -> Vectors:
    model = default_embedding_model(ctx.settings)
    vectors: Vectors = (await vectors_of(ctx, model, [text], hold=hold))[0]
    return vectors


async def find_functions(
    ctx: Context,
    functions: Mapping[str, ToolFunction],
    query: str,
    limit: int | None,
    hold: SpendingHold,
) -> list[JsonObject]:
    """Return the functions that fit a description best, as the model is told of them."""
    index = ctx.state(FunctionIndexes).index_of(functions)
    rows = await index.find(ctx, query, limit or _DEFAULT_FOUND, hold)
    named = list(functions.items())
    return list(_shortened(_render_function(*named[row]) for row in rows))


def _render_function(name: str, function: ToolFunction) -> JsonObject:
    return {"name": name, "description": function.description, "input_schema": function.schema}


def _shortened(found: Iterable[JsonObject]) -> Iterable[JsonObject]:
    """Yield the functions whose schemas fit into one result, and at least one."""
    left = _MAX_RESULT_CHARACTERS
    for number, function in enumerate(found):
        left -= len(msgspec.json.encode(function))
        if left < 0 and number:
            return
        yield function


def describe_functions(functions: Mapping[str, ToolFunction]) -> list[str]:
    return [_describe(name, function) for name, function in functions.items()]


def _describe(name: str, function: ToolFunction) -> str:
    """Return what a function is found by: its name in words, its description and its properties."""
    properties = function.schema.get("properties")
    named = " ".join(map(_split_words, properties)) if isinstance(properties, dict) else ""
    return f"{_split_words(name)}. {function.description} {named}"[:_MAX_TEXT_LENGTH]


def _split_words(text: str) -> str:
    return _WORD_STARTS.sub(" ", text)
