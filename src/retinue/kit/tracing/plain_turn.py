"""A turn with one model call and nothing else: the facts from which its two spans are built (ADR 46)."""

from typing import Any

import msgspec

from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import PartRecorder
from retinue.kit.tracing.spans import Span

_SPANS = 2
_OPERATION = "chat"
_TOKENS = (
    names.INPUT_TOKENS,
    names.OUTPUT_TOKENS,
    names.CACHE_READ_TOKENS,
    names.CACHE_WRITE_TOKENS,
    names.REASONING_TOKENS,
)
_MODEL_ATTRIBUTES = frozenset(
    {
        names.OPERATION,
        names.PROVIDER,
        names.SERVER_ADDRESS,
        names.SERVER_PORT,
        names.REQUEST_MODEL,
        names.REQUEST_TEMPERATURE,
        names.REQUEST_MAX_TOKENS,
        names.REQUEST_STREAM,
        names.OUTPUT_ATTEMPT,
        names.TIME_TO_FIRST_CHUNK,
        names.RESPONSE_MODEL,
        names.RESPONSE_FINISH_REASONS,
        *_TOKENS,
    }
)

TurnTokens = tuple[int, int, int, int, int]
"""Tokens read, written, and of these read from a cache, written to one, and spent on reasoning."""


class PlainTurn(msgspec.Struct, array_like=True, frozen=True, kw_only=True):
    """The facts that the row of a turn does not say; stored as a list, so fields are only added at the end.

    `model_after_ns` is the time from the start of the turn to that of the model call.
    """

    root_span_id: str
    model_span_id: str
    name: str
    started_ns: int
    model_after_ns: int
    model_ns: int
    agent_version: int
    finish_reason: str
    server_address: str | None
    server_port: int | None
    temperature: float | int | None
    max_tokens: int | None
    is_streaming: bool | None
    output_attempt: int | None
    first_chunk_s: float | int | None
    response_model: str | None
    model_finish_reason: str

    @classmethod
    def of_part(
        cls, part: PartRecorder, *, model: str, tokens: TurnTokens, agent_version: int, finish_reason: str
    ) -> "PlainTurn | None":
        """Return the facts of a part that has ended; None if its spans say anything else.

        `model` and `tokens` are those that the row of the turn has.
        """
        if not _is_plain(part):
            return None
        root, call = part.spans
        said = call.attributes
        reasons = said.get(names.RESPONSE_FINISH_REASONS)
        is_told_by_row = (
            call.name == f"{_OPERATION} {said.get(names.REQUEST_MODEL)}"
            and model == f"{said.get(names.PROVIDER)}/{said.get(names.REQUEST_MODEL)}"
            and tokens
            == (
                said.get(names.INPUT_TOKENS, 0),
                said.get(names.OUTPUT_TOKENS, 0),
                said.get(names.CACHE_READ_TOKENS, 0),
                said.get(names.CACHE_WRITE_TOKENS, 0),
                said.get(names.REASONING_TOKENS, 0),
            )
        )
        if not is_told_by_row or not reasons or said.get(names.OPERATION) != _OPERATION:
            return None
        return cls(
            root_span_id=root.span_id,
            model_span_id=call.span_id,
            name=root.name,
            started_ns=root.started_ns,
            model_after_ns=call.started_ns - root.started_ns,
            model_ns=call.duration_ns,
            agent_version=agent_version,
            finish_reason=finish_reason,
            server_address=said.get(names.SERVER_ADDRESS),
            server_port=said.get(names.SERVER_PORT),
            temperature=said.get(names.REQUEST_TEMPERATURE),
            max_tokens=said.get(names.REQUEST_MAX_TOKENS),
            is_streaming=said.get(names.REQUEST_STREAM),
            output_attempt=said.get(names.OUTPUT_ATTEMPT),
            first_chunk_s=said.get(names.TIME_TO_FIRST_CHUNK),
            response_model=said.get(names.RESPONSE_MODEL),
            model_finish_reason=reasons[0],
        )

    def spans(
        self, *, duration_ns: int, message_id: str, channel: str, model: str, tokens: TurnTokens
    ) -> list[Span]:
        """Return the spans as a stored part has them."""
        root = Span(
            self.root_span_id,
            None,
            self.name,
            "turn",
            self.started_ns,
            duration_ns,
            attributes=_known(
                {
                    names.AGENT_VERSION: self.agent_version,
                    names.CHANNEL: channel,
                    names.FINISH_REASON: self.finish_reason,
                    names.CACHE_WRITE_TOKENS: tokens[3] or None,
                    names.REASONING_TOKENS: tokens[4] or None,
                }
            ),
            message_id=message_id,
        )
        return [root, self._model_span(model, tokens)]

    def _model_span(self, full_model: str, tokens: TurnTokens) -> Span:
        provider, _, model = full_model.partition("/")
        attributes = {
            names.OPERATION: _OPERATION,
            names.PROVIDER: provider,
            names.SERVER_ADDRESS: self.server_address,
            names.SERVER_PORT: self.server_port,
            names.REQUEST_MODEL: model,
            names.REQUEST_TEMPERATURE: self.temperature,
            names.REQUEST_MAX_TOKENS: self.max_tokens,
            names.REQUEST_STREAM: self.is_streaming,
            names.OUTPUT_ATTEMPT: self.output_attempt,
            names.TIME_TO_FIRST_CHUNK: self.first_chunk_s,
            names.RESPONSE_MODEL: self.response_model,
            names.RESPONSE_FINISH_REASONS: [self.model_finish_reason],
            **{name: count or None for name, count in zip(_TOKENS, tokens, strict=True)},
        }
        return Span(
            self.model_span_id,
            self.root_span_id,
            f"{_OPERATION} {model}",
            "model",
            self.started_ns + self.model_after_ns,
            self.model_ns,
            attributes=_known(attributes),
        )


def _is_plain(part: PartRecorder) -> bool:
    """Return whether the part began its trace here and tells of nothing but one call that went well."""
    if len(part.spans) != _SPANS or part.spent_before is not None:
        return False
    root, call = part.spans
    is_first = root.parent_span_id is None and not root.links and not root.attributes
    has_failed = root.error is not None or call.error is not None
    return (
        is_first
        and not has_failed
        and call.kind == "model"
        and call.parent_span_id == root.span_id
        and not root.events
        and not call.events
        and call.attributes.keys() <= _MODEL_ATTRIBUTES
    )


def _known(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}
