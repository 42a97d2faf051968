"""Token counts as reported by providers; unexpected values become 0 rather than break a reply."""

import math

from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.json_types import JsonObject

_MAX_TOKENS = 2**31 - 1


def openai_usage(reported: object) -> ModelUsage | None:
    if not isinstance(reported, dict):
        return None
    prompt, completion = _count(reported.get("prompt_tokens")), _count(reported.get("completion_tokens"))
    cached = _detail(reported, "prompt_tokens_details", "cached_tokens")
    written = _detail(reported, "prompt_tokens_details", "cache_write_tokens")
    reasoning = _detail(reported, "completion_tokens_details", "reasoning_tokens")
    return ModelUsage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=min(cached, prompt),
        cache_write_tokens=min(written, max(0, prompt - cached)),
        reasoning_tokens=min(reasoning, completion),
    )


def anthropic_usage(reported: JsonObject) -> ModelUsage | None:
    """Return the usage; Anthropic counts tokens written to and read from its cache separately."""
    if not reported:
        return None
    cache_reads = _count(reported.get("cache_read_input_tokens"))
    cache_writes = _count(reported.get("cache_creation_input_tokens"))
    completion = _count(reported.get("output_tokens"))
    written_1h = _detail(reported, "cache_creation", "ephemeral_1h_input_tokens")
    reasoning = _detail(reported, "output_tokens_details", "thinking_tokens")
    return ModelUsage(
        prompt_tokens=_count(reported.get("input_tokens")) + cache_writes + cache_reads,
        completion_tokens=completion,
        cached_tokens=cache_reads,
        cache_write_tokens=cache_writes,
        cache_write_1h_tokens=min(written_1h, cache_writes),
        reasoning_tokens=min(reasoning, completion),
    )


def _detail(reported: JsonObject, group: str, name: str) -> int:
    details = reported.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else 0


def _count(value: object) -> int:
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), _MAX_TOKENS)
