"""Execution of a tool: validate the input, run the executor within its timeout, record the result.

Failures after the input was accepted are part of a normal response. No transaction is open while the
executor runs; its result is redacted before it is stored or returned.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote_plus

import msgspec
import structlog

from retinue.credentials import destinations
from retinue.credentials.errors import DestinationChanged
from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import DEFAULT_TIMEOUT_MS
from retinue.kit.conversation_ids import conversation_ids_or_none
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.metrics import declarations as metrics
from retinue.kit.schema.json_schema import compile_schema
from retinue.kit.text.redaction import Redactor
from retinue.tools.config import known_keys
from retinue.tools.config.configuration import HTTP_TEMPLATE, apply_override, calls_http, destination_of
from retinue.tools.errors import ExecutionFailed, ToolDisabled
from retinue.tools.executors import EXECUTORS, authentication
from retinue.tools.executors.call import (
    MAX_HTTP_TIMEOUT_MS,
    MAX_TIMEOUT_MS,
    Authentication,
    ExecutorCall,
)
from retinue.tools.models import (
    AuthType,
    ExecutionSource,
    ExecutionStatus,
    Tool,
    ToolExecution,
    ToolType,
)
from retinue.tools.run.outcome import INTERRUPTED, ToolRunResult, fail_execution, finish_execution
from retinue.tools.run.records import record_execution
from retinue.tools.run.result_images import store_images
from retinue.tools.run.tool_span import recording_tool

log = structlog.get_logger("retinue.tools")

# The database or the vault is unavailable, which is not a failure of the tool.
_UNAVAILABLE_STATUSES = (503, 507)


async def execute(
    ctx: Context,
    tool: Tool,
    input: JsonObject,
    *,
    source: ExecutionSource = ExecutionSource.api,
    agent_id: str | None = None,
    agent_name: str | None = None,
    override: JsonObject | None = None,
    override_destination: str = "",
) -> ToolRunResult:
    """Run a tool now and record it; `override` is merged into its configuration for this run.

    `override_destination` is the destination that an authorized user approved for that override (ADR 8).
    """
    require_runnable(tool, input)
    if override and override_destination:
        tool = _with_override_destination(tool, override, override_destination)
    execution = new_execution(ctx, tool, source)
    execution.agent_id, execution.agent_name = agent_id, agent_name
    return await run_and_record(ctx, tool, input, execution, override=override, is_new=True)


def _with_override_destination(tool: Tool, override: JsonObject, destination: str) -> Tool:
    """Bind the tool's secrets to the override's destination, if that is the approved one."""
    if destination_of(tool.tool_type, apply_override(tool.config, override)) != destination:
        return tool
    return msgspec.structs.replace(tool, auth_destination=destination)


def require_runnable(tool: Tool, input: JsonObject) -> None:
    """Refuse a disabled tool and input that does not match its schema; neither counts as a run."""
    if not tool.is_enabled:
        raise ToolDisabled
    if tool.input_schema is not None:
        problems = compile_schema(tool.input_schema, "input_schema").errors(input, "input")
        if problems:
            raise Invalid(problems)


def new_execution(ctx: Context, tool: Tool, source: ExecutionSource) -> ToolExecution:
    """Return the record of a run that starts now, without storing it."""
    return ToolExecution(
        id=new_id(ToolExecution.__prefix__),
        tool_id=tool.id,
        user_id=ctx.principal.owner_id or None,
        source=source,
        status=ExecutionStatus.running,
        input="{}",
        executed_at=ctx.now,
        correlation_id=ctx.caller.correlation_id,
    )


async def run_and_record(
    ctx: Context,
    tool: Tool,
    input: JsonObject,
    execution: ToolExecution,
    *,
    override: JsonObject | None = None,
    is_new: bool,
) -> ToolRunResult:
    """Run the tool and record the result; `is_new` is false if the execution is already stored."""

    async def record(ctx: Context, execution: ToolExecution) -> None:
        await record_execution(ctx, execution, is_new=is_new)

    return await run(ctx, tool, input, execution, record, override=override)


async def run(
    ctx: Context,
    tool: Tool,
    input: JsonObject,
    execution: ToolExecution,
    record: Callable[[Context, ToolExecution], Awaitable[None]],
    *,
    override: JsonObject | None = None,
) -> ToolRunResult:
    """Run the tool and hand the result to `record`."""
    call = _build_call(ctx, tool, input, execution, override or {})
    started = ctx.clock.monotonic()
    with call.redactor.guarding_logs(), recording_tool(ctx, tool, execution) as span:
        try:
            output, failure = await _run_executor(call, is_overridden=bool(override))
            is_shown = failure is None and call.agent_id is not None
            images = await store_images(call, output) if is_shown else []
        except asyncio.CancelledError:
            fail_execution(execution, INTERRUPTED)
            metrics.TOOL_EXECUTIONS.count(tool.tool_type, execution.status)
            await record(ctx, execution)
            raise
        execution.conversation_ids = conversation_ids_or_none(ctx.caller.conversation_ids)
        execution.execution_time_ms = round((ctx.clock.monotonic() - started) * 1000)
        finished = finish_execution(call, execution, output, failure, tuple(images))
        if span is not None and finished.error is not None:
            span.fail(finished.error.code, finished.error.message)
        metrics.TOOL_EXECUTIONS.count(tool.tool_type, execution.status)
        metrics.TOOL_DURATION.observe(execution.execution_time_ms / 1000, tool.tool_type)
        await record(ctx, execution)
    return finished


def _build_call(
    ctx: Context,
    tool: Tool,
    input: JsonObject,
    execution: ToolExecution,
    override: JsonObject,
) -> ExecutorCall:
    config = apply_override(tool.config, override) if override else tool.config
    return ExecutorCall(
        ctx=ctx,
        tool=tool,
        execution_id=execution.id,
        config=config,
        input=input,
        timeout_s=_timeout_ms(tool.tool_type, config) / 1000,
        authentication=Authentication(),
        redactor=Redactor(),
        agent_id=execution.agent_id,
    )


def _timeout_ms(tool_type: ToolType, config: JsonObject) -> int:
    requested_ms = config.get("timeout_ms")
    is_plain_http = tool_type in {ToolType.rest_api, ToolType.webhook} or config.get("kind") == HTTP_TEMPLATE
    max_ms = MAX_HTTP_TIMEOUT_MS if is_plain_http else MAX_TIMEOUT_MS
    return (
        min(requested_ms, max_ms)
        if isinstance(requested_ms, int) and requested_ms > 0
        else DEFAULT_TIMEOUT_MS
    )


async def _run_executor(call: ExecutorCall, *, is_overridden: bool) -> tuple[Any, ExecutionFailed | None]:
    """Return the output or the failure; `Invalid` is raised for input that only the executor can check."""
    deadline = asyncio.timeout(call.timeout_s)
    try:
        async with deadline:
            if is_overridden:
                _check_override(call)
            await _authenticate(call)
            output = await EXECUTORS[call.tool.tool_type](call)
        _check_output(call.tool, output)
    except Invalid:
        raise
    except Exception as error:  # noqa: BLE001  a tool's failure is part of its answer
        return None, _as_failure(call, error, timed_out=deadline.expired())
    return output, None


def _check_override(call: ExecutorCall) -> None:
    """Validate the merged configuration, which is known only at run time."""
    try:
        known_keys.validate_config(call.ctx, call.tool.tool_type, call.config)
    except Invalid as invalid:
        message = "The override makes the configuration invalid."
        raise ExecutionFailed("not_configured", message, details=invalid.details) from None


async def _authenticate(call: ExecutorCall) -> None:
    tool = call.tool
    if tool.credential_id is None and tool.auth_type is AuthType.none:
        return
    destination = destination_of(tool.tool_type, call.config)
    if not destination and calls_http(tool.tool_type, call.config):
        raise ExecutionFailed("not_configured", "The configuration has no valid URL.")
    call.authentication, hidden = await authentication.resolve(
        call.ctx, tool, call.config, via=call.via, destination=destination
    )
    # Query values may come back URL-encoded.
    in_url = [quote_plus(value) for value in call.authentication.query.values()]
    call.redactor.add(*hidden, *in_url)
    if tool.credential_id is not None:
        # After the vault, which audits its own refusals.
        destinations.require_same_destination(entered_for=tool.auth_destination, effective=destination)


def _check_output(tool: Tool, output: object) -> None:
    if tool.output_schema is None:
        return
    problems = compile_schema(tool.output_schema, "output_schema").errors(output, "output")
    if problems:
        raise ExecutionFailed("invalid_output", "The output does not match output_schema.", details=problems)


def _as_failure(call: ExecutorCall, error: Exception, *, timed_out: bool) -> ExecutionFailed:
    if timed_out or isinstance(error, TimeoutError):
        timeout_ms = round(call.timeout_s * 1000)
        return ExecutionFailed("timeout", f"The tool did not finish within {timeout_ms} ms.")
    if isinstance(error, ExecutionFailed):
        return error
    if isinstance(error, DestinationChanged):
        return ExecutionFailed(error.code, error.message)
    if isinstance(error, RetinueError) and error.status in _UNAVAILABLE_STATUSES:
        raise error
    log.error("tool_failed", tool_id=call.tool.id, exc_info=error)
    return ExecutionFailed("runtime_error", "The tool failed unexpectedly.")
