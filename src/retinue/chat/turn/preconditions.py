"""Preconditions of a turn, checked before anything of it is stored."""

from retinue.agents.models import Agent, AgentStatus
from retinue.chat.errors import AgentArchived
from retinue.chat.turn import billing
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.providers.model_resolution import require_any_model
from retinue.usage.errors import BudgetExceeded, ModelUnpriced
from retinue.usage.refusals import record_refusal


def require_not_archived(agent: Agent) -> None:
    if agent.status is AgentStatus.archived:
        raise AgentArchived


async def require_answerable(
    ctx: Context, request: TurnRequest, reservation: billing.BudgetReservation | None = None
) -> None:
    """Raise if no budget or no model can answer the turn.

    With `reservation`, its budgets are held from now on; without, they are only asked.
    """
    agent = request.agent
    try:
        if reservation is None:
            await billing.require_budget(ctx, request)
        else:
            agent = (await reservation.reserve(request)).agent
    except (BudgetExceeded, ModelUnpriced) as refusal:
        await record_refusal(ctx, refusal)
        raise
    models = (agent.primary_model, *agent.fallback_models)
    await require_any_model(ctx, models, may_quote=agent.knowledge_base_id is not None)
