"""Running a tool: the input is checked, the executor is run against the clock, and the end is recorded.

Whatever goes wrong after the input was accepted is part of a normal answer. No transaction is open while
the executor runs; what it leaves behind passes the leak guard before anyone sees it.
"""

import asyncio
from typing import Any
from urllib.parse import quote_plus

import msgspec
import structlog

from retinue.credentials import destinations
from retinue.credentials.errors import DestinationChanged
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.ids import new_id
from retinue.kit.json_schemas import compile_schema
from retinue.kit.redaction import Redactor
from retinue.tools import authentication, known_keys
from retinue.tools.calls import DEFAULT_TIMEOUT_MS, MAX_HTTP_TIMEOUT_MS, MAX_TIMEOUT_MS, Authentication, Call
from retinue.tools.configuration import HTTP_TEMPLATE, calls_http, destination_of, merged
from retinue.tools.errors import ExecutionFailed, ToolDisabled
from retinue.tools.executors import EXECUTORS
from retinue.tools.models import (
    AuthType,
    ExecutionSource,
    ExecutionStatus,
    Tool,
    ToolExecution,
    ToolType,
)
from retinue.tools.outcomes import INTERRUPTED, Finished, fail, finish
from retinue.tools.recording import record

log = structlog.get_logger("retinue.tools")

# The database or the vault does not answer: that is no failure of the tool.
_UNAVAILABLE = (503, 507)


async def execute(
    ctx: Context,
    tool: Tool,
    input: dict[str, Any],
    *,
    source: ExecutionSource = ExecutionSource.api,
    agent_id: str | None = None,
    agent_name: str | None = None,
    override: dict[str, Any] | None = None,
    override_destination: str = "",
) -> Finished:
    """Run a tool now and record it; `override` goes over its configuration for this run.

    `override_destination` is where someone entitled lets the tool's secrets go by that override.
    """
    check(tool, input)
    if override and override_destination:
        tool = _led_by(tool, override, override_destination)
    execution = begun(ctx, tool, source)
    execution.agent_id, execution.agent_name = agent_id, agent_name
    return await perform(ctx, tool, input, execution, override=override, is_new=True)


def _led_by(tool: Tool, override: dict[str, Any], destination: str) -> Tool:
    """The tool for this run: its secrets may go where the override leads, if that is where they were let."""
    if destination_of(tool.tool_type, merged(tool.config, override)) != destination:
        return tool
    return msgspec.structs.replace(tool, auth_destination=destination)


def check(tool: Tool, input: dict[str, Any]) -> None:
    """Refuse what is no run at all: a disabled tool, or input that is not what the tool declares."""
    if not tool.is_enabled:
        raise ToolDisabled
    if tool.input_schema is not None:
        problems = compile_schema(tool.input_schema, "input_schema").errors(input, "input")
        if problems:
            raise Invalid(problems)


def begun(ctx: Context, tool: Tool, source: ExecutionSource) -> ToolExecution:
    """The record of a run that begins now; it is stored when the run has ended."""
    return ToolExecution(
        id=new_id(ToolExecution.__prefix__),
        tool_id=tool.id,
        user_id=ctx.principal.id if ctx.principal.kind == "user" else None,
        source=source,
        status=ExecutionStatus.running,
        input="{}",
        executed_at=ctx.now,
        correlation_id=ctx.caller.correlation_id,
    )


async def perform(
    ctx: Context,
    tool: Tool,
    input: dict[str, Any],
    execution: ToolExecution,
    *,
    override: dict[str, Any] | None = None,
    is_new: bool,
) -> Finished:
    """Run what was begun and record how it ended; `is_new` unless a record of it is stored already."""
    call = _call(ctx, tool, input, execution, override or {})
    started = ctx.clock.monotonic()
    with call.redactor.guarding_logs():
        try:
            output, failure = await _outcome(call, is_overridden=bool(override))
        except asyncio.CancelledError:
            fail(execution, INTERRUPTED)
            await record(ctx, execution, is_new=is_new)
            raise
        execution.execution_time_ms = round((ctx.clock.monotonic() - started) * 1000)
        finished = finish(call, execution, output, failure)
        await record(ctx, execution, is_new=is_new)
    return finished


def _call(
    ctx: Context,
    tool: Tool,
    input: dict[str, Any],
    execution: ToolExecution,
    override: dict[str, Any],
) -> Call:
    config = merged(tool.config, override) if override else tool.config
    return Call(
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


def _timeout_ms(tool_type: ToolType, config: dict[str, Any]) -> int:
    wanted = config.get("timeout_ms")
    is_plain_http = tool_type in {ToolType.rest_api, ToolType.webhook} or config.get("kind") == HTTP_TEMPLATE
    longest = MAX_HTTP_TIMEOUT_MS if is_plain_http else MAX_TIMEOUT_MS
    return min(wanted, longest) if isinstance(wanted, int) and wanted > 0 else DEFAULT_TIMEOUT_MS


async def _outcome(call: Call, *, is_overridden: bool) -> tuple[Any, ExecutionFailed | None]:
    """What the executor gave, or how it failed; input that only the executor can judge is still refused."""
    deadline = asyncio.timeout(call.timeout_s)
    try:
        async with deadline:
            if is_overridden:
                _check_override(call)
            await _let_in(call)
            output = await EXECUTORS[call.tool.tool_type](call)
        _check_output(call.tool, output)
    except Invalid:
        raise
    except Exception as error:  # noqa: BLE001  a tool's failure is part of its answer
        return None, _failure(call, error, is_late=deadline.expired())
    return output, None


def _check_override(call: Call) -> None:
    """A configuration is checked when it is saved, but an override meets it only here."""
    try:
        known_keys.check(call.tool.tool_type, call.config)
    except Invalid as invalid:
        message = "The override makes the configuration unusable."
        raise ExecutionFailed("not_configured", message, details=invalid.details) from None


async def _let_in(call: Call) -> None:
    tool = call.tool
    if tool.credential_id is None and tool.auth_type is AuthType.none:
        return
    destination = destination_of(tool.tool_type, call.config)
    if not destination and calls_http(tool.tool_type, call.config):
        raise ExecutionFailed("not_configured", "The configuration has no valid URL.")
    call.authentication, hidden = await authentication.resolve(
        call.ctx, tool, call.config, via=call.via, destination=destination
    )
    # What stands in a URL comes back from there in forms of its own.
    in_url = [quote_plus(value) for value in call.authentication.query.values()]
    call.redactor.add(*hidden, *in_url)
    if tool.credential_id is not None:
        # After the vault was asked, because the vault audits what it refuses.
        destinations.require(entered_for=tool.auth_destination, effective=destination)


def _check_output(tool: Tool, output: Any) -> None:
    if tool.output_schema is None:
        return
    problems = compile_schema(tool.output_schema, "output_schema").errors(output, "output")
    if problems:
        raise ExecutionFailed(
            "invalid_output", "The output is not what output_schema declares.", details=problems
        )


def _failure(call: Call, error: Exception, *, is_late: bool) -> ExecutionFailed:
    if is_late or isinstance(error, TimeoutError):
        timeout_ms = round(call.timeout_s * 1000)
        return ExecutionFailed("timeout", f"The tool did not finish within {timeout_ms} ms.")
    if isinstance(error, ExecutionFailed):
        return error
    if isinstance(error, DestinationChanged):
        return ExecutionFailed(error.code, error.message)
    if isinstance(error, RetinueError) and error.status in _UNAVAILABLE:
        raise error
    log.error("tool failed unexpectedly", tool_id=call.tool.id, exc_info=error)
    return ExecutionFailed("runtime_error", "The tool failed unexpectedly.")
