"""Token counts as providers report them: nothing in them is taken on trust, and none of it breaks a reply."""

import math
from typing import Any

from retinue.adapters.llm.messages import Usage

_MOST_TOKENS = 2**31 - 1


def openai_usage(reported: Any) -> Usage | None:
    if not isinstance(reported, dict):
        return None
    details = reported.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=_count(reported.get("prompt_tokens")),
        completion_tokens=_count(reported.get("completion_tokens")),
        cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else 0,
    )


def anthropic_usage(reported: dict[str, Any]) -> Usage | None:
    """Anthropic counts what it wrote to and read from its cache beside the other tokens of the prompt."""
    if not reported:
        return None
    cached = _count(reported.get("cache_read_input_tokens"))
    written = _count(reported.get("cache_creation_input_tokens"))
    return Usage(
        prompt_tokens=_count(reported.get("input_tokens")) + written + cached,
        completion_tokens=_count(reported.get("output_tokens")),
        cached_tokens=cached,
    )


def _count(value: Any) -> int:
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), _MOST_TOKENS)
