from retinue.agents import batch
from retinue.agents.schemas import AgentOut
from retinue.kit.context import Context
from retinue.kit.http.batch import Batch, BatchAnswer, BatchFailed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes

routes = Routes("/v1/agents/batch", tag="agents")


# Each operation runs in its own transaction unless `atomic`, so none may be open before.
@routes.post("", requires="agents:write", other_status=207, calls_out=True, errors=(BatchFailed,))
async def change_many_agents(ctx: Context, body: Batch) -> Reply[BatchAnswer[AgentOut]]:
    """Create, update, publish, archive or delete up to 100 agents; the request counts as one write.

    The status is 207 if some operations failed. With `atomic`, one failure rolls back all of them (422).
    Deleting requires `agents:delete`.
    """
    answer = await batch.run_batch(ctx, body)
    return Reply(answer, status=207 if answer.summary.failed else 200)
