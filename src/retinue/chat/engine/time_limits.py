"""How long a model and a whole turn may take: the instance's settings, and what an agent says instead."""

from retinue.adapters.llm import Timeouts
from retinue.agents.models import Agent
from retinue.kit.context import Context


def turn_seconds(ctx: Context, agent: Agent) -> float:
    """Return the time of a turn; an agent may take less than the instance allows, but not more."""
    allowed = float(ctx.instance.settings.turn_seconds)
    return min(agent.timeouts.turn_s or allowed, allowed)


def model_timeouts(ctx: Context, agent: Agent) -> Timeouts:
    settings, own = ctx.instance.settings, agent.timeouts
    whole_s = turn_seconds(ctx, agent)
    return Timeouts(
        first_byte_s=own.first_byte_s or settings.model_first_byte_seconds,
        between_chunks_s=own.between_chunks_s or settings.model_chunk_seconds,
        unstreamed_s=whole_s,
        total_s=whole_s,
    )
