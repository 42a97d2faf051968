"""Nodes that call outside; a crash repeats the call, so the destination may receive it twice."""

from retinue.kit import hop_count
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
from retinue.kit.json_types import JsonObject
from retinue.kit.text.templates import is_template
from retinue.tools.executors.bodies import JSON_TYPE, decode_body, encode_body
from retinue.tools.executors.headers import content_type, merge_headers, validate_headers
from retinue.tools.executors.urls import add_query, query_pairs
from retinue.tools.models import ExecutionSource, Tool
from retinue.tools.run.execute import execute
from retinue.workflows.engine.node_type import (
    NodeCheck,
    NodeCompleted,
    NodeFailed,
    NodeStep,
    NodeType,
    Problems,
    requires_permission,
)
from retinue.workflows.nodes.checks import problems_of_reference

_HTTP_TIMEOUT_MS = 30_000
_KEPT_HEADERS = ("content-type", "retry-after")
_RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_FINAL_CODES = frozenset(
    {
        "not_configured",
        "query_not_allowed",
        "credential_access_denied",
        "ssrf_blocked",
        "too_deep",
        "too_many_runs",
    }
)


async def _run_tool(ctx: Context, step: NodeStep) -> NodeCompleted:
    tool = await ctx.db.get(Tool, str(step.config.get("tool_id") or ""))
    if tool is None:
        raise NodeFailed("tool_not_found", "There is no such tool.", is_final=True)
    tool_input = step.config.get("input")
    if tool_input is None:
        tool_input = {}
    if not isinstance(tool_input, dict):
        raise NodeFailed("invalid_input", "The input of the tool must be an object.", is_final=True)
    result = await execute(ctx, tool, tool_input, source=ExecutionSource.workflow)
    if result.error is not None:
        code = result.error.code
        raise NodeFailed(code, result.error.message, is_final=code in _FINAL_CODES)
    return NodeCompleted(result.output)


async def _check_tool(node_check: NodeCheck) -> Problems:
    return await problems_of_reference(node_check, "tool_id", Tool, "There is no such tool.")


async def _run_http(ctx: Context, step: NodeStep) -> NodeCompleted:
    config = step.config
    method = str(config.get("method") or "GET").upper()
    url = add_query(str(config.get("url") or ""), query_pairs(config.get("query") or {}))
    headers, content = _build_message(ctx, step)
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
            kept_headers = {
                name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers
            }
            body = decode_body(await response.read(), kept_headers.get("content-type", ""))
    except (EgressRefused, ResponseTooLarge) as error:
        raise NodeFailed(error.code, error.message, is_final=True) from None
    except EgressTimeout as error:
        raise NodeFailed("timeout", error.message) from None
    except EgressFailed as error:
        raise NodeFailed("network_error", error.message) from None
    if not 200 <= response.status < 300 and config.get("fail_on_error", True):
        raise NodeFailed(
            "http_error",
            f"The destination responded with status {response.status}.",
            is_final=response.status not in _RETRYABLE_STATUSES,
        )
    return NodeCompleted({"status_code": response.status, "headers": kept_headers, "body": body})


def _build_message(ctx: Context, step: NodeStep) -> tuple[dict[str, str], bytes | None]:
    body = step.config.get("body")
    type_header = {} if body is None else {"Content-Type": JSON_TYPE}
    # The key is the same for every attempt, so that the destination can recognize a repeated call.
    platform_headers = {hop_count.HOPS_HEADER: str(ctx.caller.hops + 1), "Idempotency-Key": step.key}
    configured = validate_headers(step.config.get("headers") or {}, "config.headers")
    headers = merge_headers(platform_headers, type_header, configured)
    return headers, None if body is None else encode_body(body, content_type(headers))


async def _check_request(node_check: NodeCheck) -> Problems:
    url = node_check.node.config.get("url")
    if not isinstance(url, str) or is_template(url):
        return {}
    try:
        node_check.ctx.adapter(Egress).check(url)
    except EgressRefused as refused:
        return {f"{node_check.path}.url": refused.message}
    except Invalid as invalid:
        return {f"{node_check.path}.url": invalid.message}
    return {}


_ANY_OBJECT: JsonObject = {"type": "object"}

EXTERNAL_NODES = (
    NodeType(
        type="tool",
        name="Tool",
        description="Runs a tool and returns its output.",
        config_schema={
            "type": "object",
            "properties": {
                "tool_id": {"type": "string", "minLength": 1, "maxLength": 64},
                "input": _ANY_OBJECT,
            },
            "required": ["tool_id"],
        },
        check=_check_tool,
        requires=requires_permission("tools:execute"),
        run=_run_tool,
        calls_outside=True,
        timeout_ms=130_000,
    ),
    NodeType(
        type="http",
        name="HTTP request",
        description="Sends a request; any response but 2xx is a failure, unless `fail_on_error` is false.",
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
        run=_run_http,
        calls_outside=True,
        timeout_ms=_HTTP_TIMEOUT_MS + 5_000,
    ),
)
