"""Token counts as reported by providers; unexpected values become 0 rather than break a reply."""

import math

from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.json_types import JsonObject

_MAX_TOKENS = 2**31 - 1


def openai_usage(reported: object) -> ModelUsage | None:
    if not isinstance(reported, dict):
        return None
    details = reported.get("prompt_tokens_details")
    return ModelUsage(
        prompt_tokens=_count(reported.get("prompt_tokens")),
        completion_tokens=_count(reported.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def anthropic_usage(reported: JsonObject) -> ModelUsage | None:
    """Return the usage; Anthropic counts tokens written to and read from its cache separately."""
    if not reported:
        return None
    cache_reads = _count(reported.get("cache_read_input_tokens"))
    cache_writes = _count(reported.get("cache_creation_input_tokens"))
    return ModelUsage(
        prompt_tokens=_count(reported.get("input_tokens")) + cache_writes + cache_reads,
        completion_tokens=_count(reported.get("output_tokens")),
        cached_tokens=cache_reads,
    )


def _count(value: object) -> int:
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), _MAX_TOKENS)
