"""Nodes that call the outside world: called again after a crash, so the other side may see a call twice."""

from typing import Any

from retinue.kit import hops
from retinue.kit.context import Context
from retinue.kit.egress import (
    MAX_REDIRECTS,
    Egress,
    EgressFailed,
    EgressRefused,
    EgressTimeout,
    ResponseTooLarge,
)
from retinue.kit.errors import Invalid
from retinue.tools.execution import execute
from retinue.tools.executors.bodies import JSON_TYPE, as_content, decoded
from retinue.tools.executors.headers import checked_headers, content_type, merged_headers
from retinue.tools.executors.urls import query_pairs, with_query
from retinue.tools.models import ExecutionSource, Tool
from retinue.workflows.nodes.checks import is_template, problems_of_reference
from retinue.workflows.nodes.kinds import Checking, Done, NodeFailed, NodeType, Problems, Step, needs

_HTTP_TIMEOUT_MS = 30_000
_SHOWN_HEADERS = ("content-type", "retry-after")
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_FINAL = frozenset({"not_configured", "query_not_allowed", "credential_access_denied", "ssrf_blocked"})


async def _use_tool(ctx: Context, step: Step) -> Done:
    tool = await ctx.db.get(Tool, str(step.config.get("tool_id") or ""))
    if tool is None:
        raise NodeFailed("tool_not_found", "There is no such tool.", is_final=True)
    given = step.config.get("input")
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise NodeFailed("invalid_input", "The input of the tool is not an object.", is_final=True)
    finished = await execute(ctx, tool, given, source=ExecutionSource.workflow)
    if finished.error is not None:
        code = finished.error.code
        raise NodeFailed(code, finished.error.message, is_final=code in _FINAL)
    return Done(finished.output)


async def _check_tool(checking: Checking) -> Problems:
    return await problems_of_reference(checking, "tool_id", Tool, "There is no such tool.")


async def _request(ctx: Context, step: Step) -> Done:
    config = step.config
    method = str(config.get("method") or "GET").upper()
    url = with_query(str(config.get("url") or ""), query_pairs(config.get("query") or {}))
    headers, content = _message(ctx, step)
    timeout_s = (step.node.timeout_ms or _HTTP_TIMEOUT_MS) / 1000
    try:
        async with ctx.adapter(Egress).request(
            method,
            url,
            headers=headers,
            content=content,
            timeout_s=timeout_s,
            stall_timeout_s=timeout_s,
            follow_redirects=MAX_REDIRECTS if config.get("follow_redirects") else 0,
        ) as response:
            shown = {name: response.headers[name] for name in _SHOWN_HEADERS if name in response.headers}
            body = decoded(await response.read(), shown.get("content-type", ""))
    except (EgressRefused, ResponseTooLarge) as error:
        raise NodeFailed(error.code, error.message, is_final=True) from None
    except EgressTimeout as error:
        raise NodeFailed("timeout", error.message) from None
    except EgressFailed as error:
        raise NodeFailed("network_error", error.message) from None
    if not 200 <= response.status < 300 and config.get("fail_on_error", True):
        raise NodeFailed(
            "http_error",
            f"The destination answered with status {response.status}.",
            is_final=response.status not in _WORTH_ANOTHER_TRY,
        )
    return Done({"status_code": response.status, "headers": shown, "body": body})


def _message(ctx: Context, step: Step) -> tuple[dict[str, str], bytes | None]:
    body = step.config.get("body")
    typed = {} if body is None else {"Content-Type": JSON_TYPE}
    # The same however often the step is run, so that the other side can tell a repetition.
    own = {hops.HEADER: str(ctx.caller.hops + 1), "Idempotency-Key": step.key}
    given = checked_headers(step.config.get("headers") or {}, "config.headers")
    headers = merged_headers(own, typed, given)
    return headers, None if body is None else as_content(body, content_type(headers))


async def _check_request(checking: Checking) -> Problems:
    url = checking.node.config.get("url")
    if not isinstance(url, str) or is_template(url):
        return {}
    try:
        checking.ctx.adapter(Egress).check(url)
    except EgressRefused as refused:
        return {f"{checking.path}.url": refused.message}
    except Invalid as invalid:
        return {f"{checking.path}.url": invalid.message}
    return {}


_ANY_OBJECT: dict[str, Any] = {"type": "object"}

OUTSIDE = (
    NodeType(
        type="tool",
        name="Tool",
        description="Runs a tool, and gives back its output.",
        config_schema={
            "type": "object",
            "properties": {
                "tool_id": {"type": "string", "minLength": 1, "maxLength": 64},
                "input": _ANY_OBJECT,
            },
            "required": ["tool_id"],
        },
        check=_check_tool,
        requires=needs("tools:execute"),
        run=_use_tool,
        calls_outside=True,
        timeout_ms=130_000,
    ),
    NodeType(
        type="http",
        name="HTTP request",
        description="Calls an address; any answer but 2xx is a failure, unless `fail_on_error` is false.",
        config_schema={
            "type": "object",
            "properties": {
                "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "get", "post", "put"]},
                "url": {"type": "string", "minLength": 1, "maxLength": 8000},
                "query": _ANY_OBJECT,
                "headers": _ANY_OBJECT,
                "body": {},
                "follow_redirects": {"type": "boolean"},
                "fail_on_error": {"type": "boolean"},
            },
            "required": ["url"],
        },
        check=_check_request,
        run=_request,
        calls_outside=True,
        timeout_ms=_HTTP_TIMEOUT_MS + 5_000,
    ),
)
