"""Nodes that suspend until they get an answer: from an agent or from people.

The request is stored in the transaction that suspends the node, so it is made once. The answer resumes the
node through the continuation `workflow_node`.
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
from retinue.chat.attachment_schemas import MAX_ATTACHMENTS, AttachmentRef, Attachments
from retinue.chat.attachments.preparation import RequestedFiles
from retinue.chat.engine.structured_output import OutputOverride
from retinue.chat.models import ChatChannel, ChatJob
from retinue.chat.replies import background
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.errors import Invalid, InvalidTransition
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import describe_first_problem, parse_config
from retinue.kit.schema.output_schema import OUTPUT_SCHEMA_FIELD, compile_output_schema
from retinue.kit.text.templates import as_text
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeSuspended,
    NodeType,
    Problems,
    requires_permission,
)
from retinue.workflows.engine.run_as import acting_as_starter
from retinue.workflows.models import NodeRun
from retinue.workflows.nodes.checks import problems_of_reference

CONTINUATION = "workflow_node"
_MAX_MESSAGE_LENGTH = 32_000


def continuation_for(step: NodeStep) -> ContinuationRef:
    return ContinuationRef(CONTINUATION, step.key)


async def _run_agent(ctx: Context, step: NodeStep) -> NodeSuspended:
    agent = await ctx.db.get(Agent, str(step.config.get("agent_id") or ""))
    if agent is None:
        raise NodeFailed("agent_not_found", "There is no such agent.", is_final=True)
    message = as_text(step.config.get("message"))
    if not message.strip() or len(message) > _MAX_MESSAGE_LENGTH:
        raise NodeFailed("invalid_message", "The message must be 1 to 32,000 characters.", is_final=True)
    starter = (await acting_as_starter(ctx, step.execution)).principal
    starter_ctx = ctx.acting_as(starter)
    context = step.config.get("context")
    turn_request = TurnRequest(
        agent=agent,
        message=message,
        channel=ChatChannel.workflow,
        conversation_id=step.config.get("conversation_id") or None,
        context=context if isinstance(context, dict) else None,
        output=_output_override(step.config),
    )
    files = RequestedFiles.of(_attachments(step.config))
    job = await background.accept_within(
        ctx, starter_ctx, turn_request, files=files, waiting=continuation_for(step)
    )
    ctx.quote(job.conversation_id)
    return NodeSuspended({"job_id": job.id, "conversation_id": job.conversation_id})


def _attachments(config: JsonObject) -> list[AttachmentRef]:
    try:
        return msgspec.convert(config.get("attachments") or [], Attachments)
    except msgspec.ValidationError:
        problem = f"attachments must be a list of at most {MAX_ATTACHMENTS} objects with a file_id."
        raise NodeFailed("invalid_config", problem, is_final=True) from None


def _output_override(config: JsonObject) -> OutputOverride | None:
    if OUTPUT_SCHEMA_FIELD not in config:
        return None
    schema = config[OUTPUT_SCHEMA_FIELD]
    try:
        if schema is not None:
            compile_output_schema(schema)
    except Invalid as invalid:
        raise NodeFailed("invalid_config", describe_first_problem(invalid)[:300], is_final=True) from None
    return OutputOverride(schema)


async def _resume_agent(_ctx: Context, _step: NodeStep, _run: NodeRun, result: JsonObject) -> NodeCompleted:
    error = result.get("error")
    if result.get("status") != "completed":
        code, error_message = (
            (error["code"], error["message"]) if error else ("cancelled", "The turn was cancelled.")
        )
        raise NodeFailed(code, error_message)
    names = ("reply", "conversation_id", "message_id", "usage", "output")
    return NodeCompleted({name: result.get(name) for name in names})


async def _cancel_agent(ctx: Context, _key: str, state: JsonObject) -> None:
    job = await ctx.db.get(ChatJob, state.get("job_id", ""))
    if job is not None:
        try:
            await background.cancel(ctx, job)
        except InvalidTransition:
            return


async def _check_agent(node_check: NodeCheck) -> Problems:
    schema = node_check.node.config.get(OUTPUT_SCHEMA_FIELD)
    if isinstance(schema, dict):
        try:
            compile_output_schema(schema, f"{node_check.path}.{OUTPUT_SCHEMA_FIELD}")
        except Invalid as invalid:
            return dict(invalid.details or {})
    return await problems_of_reference(node_check, "agent_id", Agent, "There is no such agent.")


class _ApprovalConfig(msgspec.Struct, kw_only=True):
    title: str = ""
    description: str = ""
    approvers: Approvers = Approvers()
    required_approvals: int = 1
    allow_self_approval: bool = False
    payload: Any = None
    editable_fields: tuple[str, ...] = ()
    fields: tuple[JsonObject, ...] = ()
    on_timeout: OnTimeout = OnTimeout.reject
    expires_in_s: float = 72 * 3600.0


async def _run_approval(ctx: Context, step: NodeStep) -> NodeSuspended:
    try:
        config = parse_config(step.config, _ApprovalConfig, "config")
    except Invalid as invalid:
        raise NodeFailed("invalid_config", describe_first_problem(invalid)[:300], is_final=True) from None
    payload = config.payload if isinstance(config.payload, dict) else {"value": config.payload}
    execution = step.execution
    request = RequestedApproval(
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
        waiting=continuation_for(step),
    )
    approval = await approvals.request(ctx, request)
    return NodeSuspended({"approval_id": approval.id}, is_for_approval=True)


async def _resume_approval(_ctx: Context, step: NodeStep, _run: NodeRun, result: JsonObject) -> NodeCompleted:
    """Follow the branch of the decision; a rejection without a `rejected` branch is a failure."""
    decision = result.get("decision")
    if decision == "approved":
        return NodeCompleted({**result, "branch": "approved"})
    if decision == "rejected" and "rejected" in step.branches:
        return NodeCompleted({**result, "branch": "rejected"})
    # What nobody decided in time was not rejected, whatever `on_timeout` makes of it.
    if result.get("status") == "timeout":
        decision = "timeout"
    codes = {"rejected": "approval_rejected", "timeout": "approval_timeout", "fail": "approval_timeout"}
    ending = "timed out" if decision == "timeout" else f"was {decision}"
    error_message = f"The approval {ending}." + (f" {result['comment']}" if result.get("comment") else "")
    raise NodeFailed(codes.get(str(decision), "approval_cancelled"), error_message, is_final=True)


async def _cancel_approval(ctx: Context, key: str, _state: JsonObject) -> None:
    await approvals.cancel_waiting(ctx, CONTINUATION, key)


_ID = {"type": "string", "minLength": 1, "maxLength": 64}

WAIT_NODES = (
    NodeType(
        type="agent",
        name="Agent",
        description="Sends a message to an agent and returns its `reply`, and `output` if it is structured.",
        config_schema={
            "type": "object",
            "properties": {
                "agent_id": _ID,
                "message": {"type": "string", "minLength": 1, "maxLength": _MAX_MESSAGE_LENGTH},
                "conversation_id": {"type": "string", "maxLength": 64},
                "context": {"type": "object"},
                "output_schema": {"type": ["object", "null"]},
                "attachments": {
                    "type": "array",
                    "maxItems": MAX_ATTACHMENTS,
                    "items": {
                        "type": "object",
                        "properties": {"file_id": _ID},
                        "required": ["file_id"],
                    },
                },
            },
            "required": ["agent_id", "message"],
        },
        check=_check_agent,
        requires=requires_permission("agents:chat"),
        run=_run_agent,
        resume=_resume_agent,
        abandon=_cancel_agent,
    ),
    NodeType(
        type="approval",
        name="Approval",
        description="Waits for the decision of people; the branches are `approved` and `rejected`.",
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
        run=_run_approval,
        resume=_resume_approval,
        abandon=_cancel_approval,
    ),
)
