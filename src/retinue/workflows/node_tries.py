"""Tries of a single node: executions of a version that holds only the node and the results it reads."""

from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.text.header_masks import restore_masked_headers
from retinue.workflows import unknown_keys, validation
from retinue.workflows.engine import graph
from retinue.workflows.engine.node_type import NODE_TYPES, Problems
from retinue.workflows.engine.start import PriorProgress, StartRequest, start_execution
from retinue.workflows.executions import run_and_wait
from retinue.workflows.loaders import fetch_workflow
from retinue.workflows.models import NODE_TRY, NodeRun, NodeStatus, Workflow, WorkflowExecution
from retinue.workflows.schemas import WorkflowExecutionAccepted, WorkflowExecutionOut, WorkflowNodeTry
from retinue.workflows.versions import store_version

_PLACE = "node"
_STAND_IN = "transform"
"""The type of a given result whose node is not stored, or would end the try."""


async def try_node(
    ctx: Context, workflow: Workflow, body: WorkflowNodeTry
) -> WorkflowExecutionOut | WorkflowExecutionAccepted:
    # The content comes from the caller, who could otherwise run what only an editor may write.
    ctx.principal.require("workflows:write")

    async def start(unit: Context) -> WorkflowExecution:
        return await _start(unit, workflow.id, body)

    return await run_and_wait(ctx, body.wait, start)


async def _start(ctx: Context, workflow_id: str, body: WorkflowNodeTry) -> WorkflowExecution:
    await ctx.unit_of_work.begin()
    workflow = await fetch_workflow(ctx, workflow_id)
    [raw] = restore_masked_headers([body.node], workflow.nodes)
    problems = await _problems_of(ctx, raw, body)
    if problems:
        raise Invalid(problems)
    unknown_keys.report_unknown_keys_of_node(ctx, raw, _PLACE)
    # One attempt, and a failure is shown as one: what the workflow would do about it is not tried.
    node = {name: value for name, value in raw.items() if name not in {"retry", "on_error"}}
    known_types = {one.get("id"): one.get("type") for one in workflow.nodes}
    given = [_stand_in(id, known_types.get(id)) for id in body.outputs]
    tried = Workflow(
        id=workflow.id,
        name=workflow.name,
        nodes=[*given, node],
        edges=[{"from": one["id"], "to": node["id"]} for one in given],
    )
    version = await store_version(ctx, tried, workflow.version, is_draft=True)
    taken = graph.TAKEN * len(given)
    return await start_execution(
        ctx,
        StartRequest(
            version=version,
            input=body.input,
            trigger=NODE_TRY,
            trigger_id=ctx.principal.id,
            run_as=ctx.principal.id,
            prior=PriorProgress(
                runs=[_given_run(ctx, one, body.outputs[one["id"]]) for one in given],
                advance=graph.Advance(taken, [node["id"]], []),
            ),
            may_queue=False,
        ),
    )


async def _problems_of(ctx: Context, node: JsonObject, body: WorkflowNodeTry) -> Problems:
    found = unknown_keys.problems_of_configs([node], lambda *_: _PLACE)
    found |= validation.missing_values_of(node, _PLACE)
    found |= await validation.problems_of_node(ctx, node, _PLACE)
    tried_id = node.get("id")
    if isinstance(tried_id, str) and tried_id in body.outputs:
        found[f"outputs.{tried_id}"] = "must not be the result of the node that is tried"
    return found


def _stand_in(node_id: str, known_type: object) -> JsonObject:
    is_known = isinstance(known_type, str) and known_type in NODE_TYPES and known_type != "end"
    return {"id": node_id, "type": known_type if is_known else _STAND_IN}


def _given_run(ctx: Context, node: JsonObject, output: object) -> NodeRun:
    return NodeRun(
        execution_id="",
        node_id=node["id"],
        type=node["type"],
        status=NodeStatus.completed,
        output=output,
        started_at=ctx.now,
        completed_at=ctx.now,
        duration_ms=0,
    )
