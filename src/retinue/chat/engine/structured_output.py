"""Structured output: the answer of a turn as a value that matches a JSON Schema."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from retinue.adapters.llm import ModelMessage, ModelReply, ResponseSchema
from retinue.chat.engine.parts import ReplyText, TextWithdrawn
from retinue.chat.engine.reply_text import JsonReplyBuilder
from retinue.chat.engine.sanitizer import sanitize_json
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.output_schema import compile_output_schema
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import current_span

REPAIR_WARNING = "output_repaired"
MAX_ATTEMPTS = 2
_SCHEMA_NAME = "answer"
_ROOT = "output"
_MAX_SHOWN_TEXT_LENGTH = 2_000
_MAX_NAMED_PROBLEMS = 3
_REPAIR_NOTE = "Your answer does not match the required JSON Schema:"
_REPAIR_REQUEST = "Answer again with the corrected JSON object and nothing else."
_EMPTY_ANSWER = "(no answer)"

CutReason = Literal["length", "content_filter"]


class OutputInvalid(RetinueError):
    """The reply does not match the output schema. Simplify the schema, or use another model."""

    status, code = 502, "output_invalid"


class OutputOverride(msgspec.Struct, frozen=True):
    """The schema that a request sets instead of the agent's; None asks for text.

    Stored in the database: a new field needs a default.
    """

    schema: JsonObject | None


class OutputAttempts:
    """The answers of one turn to its schema: a first one, and a repaired one if that was wrong.

    `value` is that of the valid one.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._schema = schema
        self._count = 1
        self.text = JsonReplyBuilder()
        self.value: JsonObject | None = None

    @property
    def needs_repair(self) -> bool:
        return self._count > 1 and self.value is None

    @property
    def is_repaired(self) -> bool:
        return self._count > 1 and self.value is not None

    @property
    def response_format(self) -> ResponseSchema:
        return ResponseSchema(_SCHEMA_NAME, self._schema, self._count)

    def review(
        self, reply: ModelReply | None, conversation: list[ModelMessage]
    ) -> Iterable[ReplyText | TextWithdrawn]:
        """Accept the answer, or add the request for a repaired one to the conversation.

        Return what is to be passed on. A second wrong answer, or one that was cut off, is an error.
        """
        answer = self.text.answer()
        problems = self._check(answer)
        if not problems:
            accepted = self.text.accept()
            return () if accepted is None else (accepted,)
        reason = _cut_reason(reply)
        if reason is not None or self.needs_repair:
            raise self._failure(answer, problems, reason)
        self._count += 1
        _trace_rejection(problems)
        conversation += _repair_messages(answer, problems)
        return self.text.withdraw()

    def _check(self, answer: str) -> dict[str, str]:
        """Keep the value of a valid answer; return the problems of another one, by path."""
        try:
            # Cleaned first: databases cannot store every character that JSON can escape.
            value = sanitize_json(msgspec.json.decode(answer))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            return {_ROOT: f"is not valid JSON: {error}"[:300]}
        problems = compile_output_schema(self._schema).errors(value, _ROOT)
        if not problems:
            self.value = value
        return problems

    def _failure(self, answer: str, problems: Mapping[str, str], reason: CutReason | None) -> OutputInvalid:
        details: JsonObject = {
            "errors": [{"path": path, "message": problem} for path, problem in problems.items()],
            "attempts": self._count,
            "text": answer[:_MAX_SHOWN_TEXT_LENGTH],
        }
        if reason is not None:
            details["reason"] = reason
        return OutputInvalid(_describe(problems, reason), details=details)


def _cut_reason(reply: ModelReply | None) -> CutReason | None:
    """Return why an answer ended early; without a reply the turn ran out of tokens or space."""
    if reply is None:
        return "length"
    return reply.finish_reason if reply.finish_reason in ("length", "content_filter") else None


def _trace_rejection(problems: Mapping[str, str]) -> None:
    span = current_span()
    if span is not None:
        span.set({names.OUTPUT_ATTEMPTS: MAX_ATTEMPTS})
        # Paths only: they come from the schema, while messages may name what the model wrote.
        span.add_event(names.OUTPUT_REJECTED_EVENT, {names.OUTPUT_PROBLEMS: list(problems)})


def _repair_messages(answer: str, problems: Mapping[str, str]) -> tuple[ModelMessage, ModelMessage]:
    listed = "\n".join(f"- {path}: {problem}" for path, problem in problems.items())
    return (
        ModelMessage(role="assistant", content=answer or _EMPTY_ANSWER),
        ModelMessage(role="user", content=f"{_REPAIR_NOTE}\n{listed}\n{_REPAIR_REQUEST}"),
    )


def _describe(problems: Mapping[str, str], reason: CutReason | None) -> str:
    if reason == "length":
        return "The reply was cut off before its output was complete. Raise `max_tokens`, or ask for less."
    if reason == "content_filter":
        return "The model's provider withheld the reply."
    named = [f"{path} {problem}" for path, problem in problems.items()][:_MAX_NAMED_PROBLEMS]
    return f"The reply does not match its output schema: {'; '.join(named)}."
