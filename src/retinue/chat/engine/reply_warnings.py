"""Warnings about a model's reply: what was done differently from what was asked for."""

from collections.abc import Iterator

from retinue.adapters.llm import ModelReply, accepted_effort
from retinue.chat.engine.parts import DEMO_WARNING
from retinue.chat.engine.task import TurnTask

_FALLBACK_WARNING = "model_fallback"
_REASONING_WARNING = "max_tokens_spent_on_reasoning"
_EFFORT_WARNING = "reasoning_effort_ignored"


def reply_warnings(reply: ModelReply, task: TurnTask, *, is_demo: bool) -> Iterator[str]:
    if reply.finish_reason == "length" and not reply.text and not reply.tool_calls:
        yield _REASONING_WARNING
    if not _is_same_model(reply.model, task.agent.primary_model):
        yield _FALLBACK_WARNING
    if is_demo:
        yield DEMO_WARNING
    if task.reasoning_effort is not None:
        provider, _, model = reply.model.partition("/")
        if accepted_effort(provider, model, task.reasoning_effort) is None:
            yield _EFFORT_WARNING


def _is_same_model(answered: str, requested_model: str) -> bool:
    """Return whether the model that answered is the configured one, with or without its provider."""
    return answered == requested_model or answered.partition("/")[2] == requested_model
