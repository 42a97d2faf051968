from retinue.agents import batch
from retinue.agents.schemas import AgentOut
from retinue.kit.batch import Batch, BatchAnswer, BatchFailed
from retinue.kit.context import Context
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes

routes = Routes("/v1/agents/batch", tag="agents")


# Each operation has a transaction of its own unless all are one, so nothing is loaded inside one before.
@routes.post("", requires="agents:write", other_status=207, calls_out=True, errors=(BatchFailed,))
async def change_many_agents(ctx: Context, body: Batch) -> Reply[BatchAnswer[AgentOut]]:
    """At most 100 operations at the cost of one; 207 when some failed, with `atomic` 422 when one did."""
    answer = await batch.carry_out(ctx, body)
    return Reply(answer, status=207 if answer.summary.failed else 200)
