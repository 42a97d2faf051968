"""Conversations in the form chat templates accept: one system prompt, then alternating user and assistant."""

import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from retinue.adapters.embedded.frames import ModelCallRefused
from retinue.kit.json_types import JsonObject

Role = Literal["system", "user", "assistant"]
# The choice that stands for a reply without a tool; templates of small models have no tools.
ANSWER_CHOICE = "answer"


class PromptTurn(Struct, frozen=True):
    """One message as the model sees it."""

    role: Role
    content: str


class PromptTool(Struct, frozen=True):
    name: str
    description: str
    schema: JsonObject


class ChatCall(Struct, frozen=True, kw_only=True):
    """A request to the chat process; a tool must be used unless `may_answer`.

    `brief_tokens` limits text replies below `max_tokens`; 0 disables it.
    """

    turns: list[PromptTurn]
    tools: list[PromptTool] = []
    may_answer: bool = True
    max_tokens: int
    brief_tokens: int = 0
    temperature: float
    top_p: float
    stop: list[str] = []
    schema: JsonObject | None = None


class TextChunk(Struct, frozen=True, tag="text"):
    text: str


class ProgressChunk(Struct, frozen=True, tag="working"):
    """Part of a long prompt was processed; there is no text yet."""


class ToolChoice(Struct, frozen=True, tag="use"):
    """A tool that the model chose, with its input as written by the model."""

    tool: str
    input: str


class ChatEnd(Struct, frozen=True, tag="over"):
    is_cut: bool
    prompt_tokens: int
    completion_tokens: int


ChatPart = TextChunk | ProgressChunk | ToolChoice | ChatEnd


# Marks that begin or end a message in the templates of common models. They are escaped in texts, so that a
# document cannot speak as the system.
_TEMPLATE_MARKS = re.compile(r"<(?=\|\w+\|>|/?s>|(?:start|end)_of_turn>)|\[(?=/?INST\])")


def merge_turns(turns: Sequence[PromptTurn]) -> list[dict[str, str]]:
    """Join the system prompts at the top and merge repeated roles; many templates require both."""
    turns = [PromptTurn(turn.role, _TEMPLATE_MARKS.sub(r"\g<0> ", turn.content)) for turn in turns]
    texts = [turn.content for turn in turns if turn.role == "system"]
    messages: list[dict[str, str]] = [{"role": "system", "content": "\n\n".join(texts)}] if texts else []
    for turn in turns:
        if turn.role == "system":
            continue
        if messages and messages[-1]["role"] == turn.role:
            messages[-1] = {"role": turn.role, "content": f"{messages[-1]['content']}\n\n{turn.content}"}
        else:
            messages.append({"role": turn.role, "content": turn.content})
    return messages


def fit_to_context(
    turns: list[PromptTurn], count: Callable[[list[PromptTurn]], int], token_limit: int
) -> list[PromptTurn]:
    """Drop the oldest messages until the rest fits the token limit; the system prompt stays."""
    if count(turns) <= token_limit:
        return turns
    system = [turn for turn in turns if turn.role == "system"]
    others = [turn for turn in turns if turn.role != "system"]
    low, high = 1, len(others)
    while low < high:
        middle = (low + high) // 2
        if count(system + others[middle:]) <= token_limit:
            high = middle
        else:
            low = middle + 1
    rest = _from_first_user_turn(others[high:])
    if not rest:
        rest = others[-1:]
        size = count(system + rest)
        if size > token_limit:
            raise ModelCallRefused(
                f"The system prompt and the last message have {size} tokens; "
                f"the embedded model accepts at most {token_limit}. Shorten them."
            )
    return system + rest


def _from_first_user_turn(turns: list[PromptTurn]) -> list[PromptTurn]:
    """Drop leading answers whose question was left out, unless nothing would remain."""
    for index, turn in enumerate(turns):
        if turn.role == "user":
            return turns[index:]
    return turns


def tool_choice_prompt(call: ChatCall) -> list[PromptTurn]:
    """Return the prompt that asks which tool to use, in the form small models handle best."""
    tool_list = "\n".join(f"- {tool.name}: {tool.description}" for tool in call.tools)
    tool_list += f"\n- {ANSWER_CHOICE}: Everything else: greetings, questions, talk."
    rules = f"You pick a tool for each request.\n{tool_list}"
    before, request = _split_last_request(call.turns)
    example = (
        [PromptTurn("user", "Request: Good morning!"), PromptTurn("assistant", f'"{ANSWER_CHOICE}"')]
        if call.may_answer
        else []
    )
    return [PromptTurn("system", rules), *example, *before, PromptTurn("user", f"Request: {request}")]


def tool_choice_schema(call: ChatCall) -> JsonObject:
    """Return the schema of the possible answers to `tool_choice_prompt`."""
    names = [tool.name for tool in call.tools]
    return {"enum": [*names, ANSWER_CHOICE] if call.may_answer else names}


def tool_input_prompt(call: ChatCall, tool: PromptTool) -> list[PromptTurn]:
    """Return the prompt that asks for a tool's input."""
    before, request = _split_last_request(call.turns)
    question = (
        f"Request: {request}\n\nTool {tool.name}: {tool.description}\nFields: {_fields(tool.schema)}\n\n"
        "Write the fields for this request as JSON:"
    )
    return [*before, PromptTurn("user", question)]


def _split_last_request(turns: list[PromptTurn]) -> tuple[list[PromptTurn], str]:
    """Return the earlier turns and the text of the current request."""
    last = turns[-1]
    if last.role == "user":
        return turns[:-1], last.content
    return turns, "Go on."


def _fields(schema: JsonObject) -> str:
    properties = schema.get("properties")
    simple = isinstance(properties, dict) and all(
        isinstance(field, dict) and field.get("type") not in ("object", "array", None)
        for field in properties.values()
    )
    if not isinstance(properties, dict) or not simple:
        return msgspec.json.encode(schema).decode()
    return ", ".join(
        f"{name} ({': '.join(str(field[key]) for key in ('type', 'description') if key in field)})"
        for name, field in properties.items()
    )
