from retinue.kit.context import Context
from retinue.kit.http.batch import Batch, BatchAnswer, BatchFailed
from retinue.kit.http.replies import Reply
from retinue.kit.http.routing import Routes
from retinue.workflows import batch
from retinue.workflows.schemas import WorkflowOut

routes = Routes("/v1/workflows/batch", tag="workflows")


# Each operation opens its own transaction unless the batch is atomic, so the route must not open one.
@routes.post("", requires="workflows:write", other_status=207, calls_out=True, errors=(BatchFailed,))
async def change_many_workflows(ctx: Context, body: Batch) -> Reply[BatchAnswer[WorkflowOut]]:
    """Carry out up to 100 operations at the cost of one request.

    The answer is 207 if some of them failed. With `atomic`, the first failure undoes all of them and answers
    422 `batch_failed`.
    """
    answer = await batch.run_batch(ctx, body)
    return Reply(answer, status=207 if answer.summary.failed else 200)
