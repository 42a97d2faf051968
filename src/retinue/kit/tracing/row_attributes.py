"""Attributes of a root span that stand in the columns of its row, and are therefore stored only there."""

from typing import Any

from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.spans import Span

_TURN_PREFIX = "invoke_agent "


def complete_spans(part: TracePart) -> list[Span]:
    """Return the spans of a part with all their attributes."""
    for span in part.spans:
        if span.span_id == part.root_span_id:
            span.attributes = {**_row_attributes(part), **span.attributes}
    return part.spans


def _row_attributes(part: TracePart) -> dict[str, Any]:
    found: dict[str, Any] = {
        names.TENANT_ID: part.tenant_id,
        names.CORRELATION_ID: part.correlation_id,
        names.USER_ID: part.user_id,
        names.CONVERSATION_ID: part.conversation_id,
        names.AGENT_ID: part.agent_id,
    }
    if part.kind == "turn":
        found |= {
            names.OPERATION: "invoke_agent",
            names.AGENT_NAME: part.name.removeprefix(_TURN_PREFIX),
            names.INPUT_TOKENS: part.input_tokens,
            names.OUTPUT_TOKENS: part.output_tokens,
            names.CACHE_READ_TOKENS: part.cached_tokens or None,
            names.COST_USD: part.cost_usd,
        }
    return {name: value for name, value in found.items() if value is not None}
