"""Nodes that ask somebody and go on with the answer: an agent, people, another workflow.

What they ask is stored in the transaction in which the node begins to wait, so it is asked once. They know
how to reach this module's nodes by the name of the continuation.
"""

from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.agents.models import Agent
from retinue.approvals import service as approvals
from retinue.approvals.service import (
    ApprovalSource,
    Approvers,
    OnTimeout,
    RequestedApproval,
    Requester,
    SourceType,
)
from retinue.chat import background
from retinue.chat.asking import Ask
from retinue.chat.models import Channel, ChatJob
from retinue.kit.context import Context
from retinue.kit.continuations import Waiting
from retinue.kit.errors import InvalidTransition
from retinue.workflows.acting import as_starter
from retinue.workflows.models import NodeRun
from retinue.workflows.nodes.checks import problems_of_reference
from retinue.workflows.nodes.inside import as_text
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, Waits, needs

CONTINUATION = "workflow_node"
_LONGEST_MESSAGE = 32_000


def waiting(step: Step) -> Waiting:
    return Waiting(CONTINUATION, step.key)


async def _ask_agent(ctx: Context, step: Step) -> Waits:
    agent = await ctx.db.get(Agent, str(step.config.get("agent_id") or ""))
    if agent is None:
        raise NodeFailed("agent_not_found", "There is no such agent.", is_final=True)
    message = as_text(step.config.get("message"))
    if not message.strip() or len(message) > _LONGEST_MESSAGE:
        raise NodeFailed("invalid_message", "The message must have 1 to 32,000 characters.", is_final=True)
    asked_by = await as_starter(ctx, step.execution)
    context = step.config.get("context")
    ask = Ask(
        agent=agent,
        message=message,
        channel=Channel.workflow,
        conversation_id=step.config.get("conversation_id") or None,
        context=context if isinstance(context, dict) else None,
    )
    job = await background.accept_within(ctx, asked_by, ask, waiting=waiting(step))
    return Waits({"job_id": job.id, "conversation_id": job.conversation_id})


async def _answered(_ctx: Context, _step: Step, _run: NodeRun, result: dict[str, Any]) -> Done:
    error = result.get("error")
    if result.get("status") != "completed":
        code, said = (error["code"], error["message"]) if error else ("cancelled", "The turn was cancelled.")
        raise NodeFailed(code, said)
    names = ("reply", "conversation_id", "message_id", "usage")
    return Done({name: result.get(name) for name in names})


async def _stop_asking(ctx: Context, _key: str, state: dict[str, Any]) -> None:
    job = await ctx.db.get(ChatJob, state.get("job_id", ""))
    if job is not None:
        try:
            await background.cancel(ctx, job)
        except InvalidTransition:
            return


async def _check_agent(checking: Checking) -> Problems:
    return await problems_of_reference(checking, "agent_id", Agent, "There is no such agent.")


class _ApprovalConfig(msgspec.Struct, kw_only=True):
    title: str = ""
    description: str = ""
    approvers: Approvers = Approvers()
    required_approvals: int = 1
    allow_self_approval: bool = False
    payload: Any = None
    editable_fields: tuple[str, ...] = ()
    fields: tuple[dict[str, Any], ...] = ()
    on_timeout: OnTimeout = OnTimeout.reject
    expires_in_s: float = 72 * 3600.0


async def _ask_people(ctx: Context, step: Step) -> Waits:
    try:
        config = msgspec.convert(step.config, _ApprovalConfig)
    except msgspec.ValidationError as error:
        raise NodeFailed("invalid_config", str(error)[:300], is_final=True) from None
    payload = config.payload if isinstance(config.payload, dict) else {"value": config.payload}
    execution = step.execution
    wanted = RequestedApproval(
        title=config.title or step.node.name or "Approval",
        source=ApprovalSource(
            type=SourceType.workflow,
            workflow_id=execution.workflow_id,
            execution_id=execution.id,
            node_id=step.node.id,
        ),
        description=config.description,
        payload={} if config.payload is None else payload,
        approvers=config.approvers,
        required_approvals=config.required_approvals,
        allow_self_approval=config.allow_self_approval,
        editable_fields=config.editable_fields,
        fields=config.fields,
        on_timeout=config.on_timeout,
        expires_in_s=config.expires_in_s,
        requested_by=Requester("user", execution.run_as),
        waiting=waiting(step),
    )
    approval = await approvals.request(ctx, wanted)
    return Waits({"approval_id": approval.id}, is_for_approval=True)


async def _decided(_ctx: Context, step: Step, _run: NodeRun, result: dict[str, Any]) -> Done:
    """A rejection is a branch of its own where the workflow has one, else a failure."""
    decision = result.get("decision")
    if decision == "approved":
        return Done({**result, "branch": "approved"})
    if decision == "rejected" and "rejected" in step.branches:
        return Done({**result, "branch": "rejected"})
    codes = {"rejected": "approval_rejected", "timeout": "approval_timeout", "fail": "approval_timeout"}
    said = f"The approval was {decision}." + (f" {result['comment']}" if result.get("comment") else "")
    raise NodeFailed(codes.get(str(decision), "approval_cancelled"), said, is_final=True)


async def _stop_waiting(ctx: Context, key: str, _state: dict[str, Any]) -> None:
    await approvals.cancel_waiting(ctx, CONTINUATION, key)


_ID = {"type": "string", "minLength": 1, "maxLength": 64}

WAITING = (
    NodeType(
        type="agent",
        name="Agent",
        description="Asks an agent, and gives back its `reply`.",
        config_schema={
            "type": "object",
            "properties": {
                "agent_id": _ID,
                "message": {"type": "string", "minLength": 1, "maxLength": _LONGEST_MESSAGE},
                "conversation_id": {"type": "string", "maxLength": 64},
                "context": {"type": "object"},
            },
            "required": ["agent_id", "message"],
        },
        check=_check_agent,
        requires=needs("agents:chat"),
        run=_ask_agent,
        resume=_answered,
        abandon=_stop_asking,
    ),
    NodeType(
        type="approval",
        name="Approval",
        description="Waits until people have decided; branches are `approved` and `rejected`.",
        config_schema={
            "type": "object",
            "properties": {
                "title": {"type": "string", "maxLength": 200},
                "description": {"type": "string", "maxLength": 10_000},
                "approvers": {
                    "type": "object",
                    "properties": {
                        "user_ids": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
                        "roles": {"type": "array", "items": {"enum": [role.value for role in Role]}},
                    },
                },
                "required_approvals": {"type": "integer", "minimum": 1, "maximum": 100},
                "allow_self_approval": {"type": "boolean"},
                "payload": {},
                "editable_fields": {"type": "array", "items": {"type": "string"}},
                "fields": {"type": "array", "items": {"type": "object"}},
                "on_timeout": {"enum": [choice.value for choice in OnTimeout]},
                "expires_in_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 366 * 86_400},
            },
        },
        run=_ask_people,
        resume=_decided,
        abandon=_stop_waiting,
    ),
)
