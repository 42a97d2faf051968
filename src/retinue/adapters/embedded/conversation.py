"""A conversation as every chat template takes it: one system prompt, then user and assistant by turns."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from retinue.adapters.embedded.frames import Refused

Role = Literal["system", "user", "assistant"]
# Templates of small models know no tools; what was called and what came of it is told in words.
ANSWER = "answer"


class Turn(Struct, frozen=True):
    """One message as the model sees it."""

    role: Role
    content: str


class Tool(Struct, frozen=True):
    name: str
    description: str
    schema: dict[str, Any]


class ChatCall(Struct, frozen=True, kw_only=True):
    """What the server asks of the chat process; unless it `may_answer`, one of the tools must be used."""

    turns: list[Turn]
    tools: list[Tool] = []
    may_answer: bool = True
    max_tokens: int
    temperature: float
    top_p: float
    stop: list[str] = []
    schema: dict[str, Any] | None = None


class Text(Struct, frozen=True, tag="text"):
    text: str


class Working(Struct, frozen=True, tag="working"):
    """Nothing to pass on yet: a part of a long prompt was read."""


class Use(Struct, frozen=True, tag="use"):
    """A tool the model chose, with its input as it wrote it."""

    tool: str
    input: str


class Over(Struct, frozen=True, tag="over"):
    is_cut: bool
    prompt_tokens: int
    completion_tokens: int


ChatPart = Text | Working | Use | Over


# What ends or begins a message in the templates of common models. In a text it is nothing but text: a
# document must not speak as the system.
_MARKS = re.compile(r"<(?=\|\w+\|>|/?s>|(?:start|end)_of_turn>)|\[(?=/?INST\])")


def merged(turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The system prompts as one at the top, and no role twice in a row: many templates insist on both."""
    turns = [Turn(turn.role, _MARKS.sub(r"\g<0> ", turn.content)) for turn in turns]
    texts = [turn.content for turn in turns if turn.role == "system"]
    made: list[dict[str, str]] = [{"role": "system", "content": "\n\n".join(texts)}] if texts else []
    for turn in turns:
        if turn.role == "system":
            continue
        if made and made[-1]["role"] == turn.role:
            made[-1] = {"role": turn.role, "content": f"{made[-1]['content']}\n\n{turn.content}"}
        else:
            made.append({"role": turn.role, "content": turn.content})
    return made


def fitted(turns: list[Turn], count: Callable[[list[Turn]], int], most: int) -> list[Turn]:
    """Leave out the oldest messages until the rest has at most so many tokens; the system prompt stays."""
    if count(turns) <= most:
        return turns
    kept = [turn for turn in turns if turn.role == "system"]
    others = [turn for turn in turns if turn.role != "system"]
    fewest, largest = 1, len(others)
    while fewest < largest:
        middle = (fewest + largest) // 2
        if count(kept + others[middle:]) <= most:
            largest = middle
        else:
            fewest = middle + 1
    rest = _from_a_question(others[largest:])
    if not rest:
        rest = others[-1:]
        size = count(kept + rest)
        if size > most:
            raise Refused(
                f"The last message and the system prompt have {size} tokens together; "
                f"the embedded model takes at most {most}."
            )
    return kept + rest


def _from_a_question(turns: list[Turn]) -> list[Turn]:
    """An answer whose question was left out says little; but something must remain."""
    for place, turn in enumerate(turns):
        if turn.role == "user":
            return turns[place:]
    return turns


def choosing(call: ChatCall) -> list[Turn]:
    """The question which tool to use now, in the form that small models get wrong least often."""
    listed = "\n".join(f"- {tool.name}: {tool.description}" for tool in call.tools)
    listed += f"\n- {ANSWER}: Everything else: greetings, questions, talk."
    rules = f"You pick a tool for each request.\n{listed}"
    before, request = _parted(call.turns)
    example = (
        [Turn("user", "Request: Good morning!"), Turn("assistant", f'"{ANSWER}"')] if call.may_answer else []
    )
    return [Turn("system", rules), *example, *before, Turn("user", f"Request: {request}")]


def choices(call: ChatCall) -> dict[str, Any]:
    """The only answers to `choosing`."""
    names = [tool.name for tool in call.tools]
    return {"enum": [*names, ANSWER] if call.may_answer else names}


def filling(call: ChatCall, tool: Tool) -> list[Turn]:
    """The question with which input to use a tool."""
    before, request = _parted(call.turns)
    wanted = (
        f"Request: {request}\n\nTool {tool.name}: {tool.description}\nFields: {_fields(tool.schema)}\n\n"
        "Write the fields for this request as JSON:"
    )
    return [*before, Turn("user", wanted)]


def _parted(turns: list[Turn]) -> tuple[list[Turn], str]:
    """What was said before, and what is wanted now."""
    last = turns[-1]
    if last.role == "user":
        return turns[:-1], last.content
    return turns, "Go on."


def _fields(schema: dict[str, Any]) -> str:
    properties = schema.get("properties")
    simple = isinstance(properties, dict) and all(
        isinstance(field, dict) and field.get("type") not in {"object", "array", None}
        for field in properties.values()
    )
    if not isinstance(properties, dict) or not simple:
        return msgspec.json.encode(schema).decode()
    return ", ".join(
        f"{name} ({': '.join(str(field[key]) for key in ('type', 'description') if key in field)})"
        for name, field in properties.items()
    )
