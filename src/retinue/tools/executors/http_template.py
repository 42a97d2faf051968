"""`http_template`: a request in which each `{{name}}` is replaced by the value at that path of the input.

Nothing is evaluated: names are looked up, and anything else in braces stays unchanged.
"""

import re
from typing import Any

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.config.shapes import HttpTemplateToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.headers import validate_headers
from retinue.tools.executors.http_call import HttpToolRequest, send
from retinue.tools.executors.urls import encode_segment, query_pairs, refuse_path_traversal, to_text

_SEGMENT = r"(?:[A-Za-z][A-Za-z0-9_-]*|\d{1,6})"
_PLACEHOLDER = re.compile(rf"\{{\{{\s*({_SEGMENT}(?:\.{_SEGMENT})*)\s*\}}\}}", re.ASCII)
_AUTHORITY = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)


async def run(call: ExecutorCall) -> Any:
    template = parse_run_config(call.config, HttpTemplateToolConfig).request
    return await send(
        call,
        HttpToolRequest(
            method=template.method.upper(),
            url=_url(template.url, call.input),
            query=query_pairs(_fill_placeholders(template.query or {}, call.input)),
            headers=validate_headers(_fill_placeholders(template.headers or {}, call.input), "input"),
            body=_fill_placeholders(template.body, call.input),
        ),
    )


def _url(url: str, values: JsonObject) -> str:
    """Fill the path and query of the URL; scheme and host are fixed by the configuration."""
    matched = _AUTHORITY.match(url)
    authority = matched[0] if matched else ""
    if not authority or "{{" in authority:
        raise ExecutionFailed(
            "not_configured", "config.request.url must begin with a scheme and a host without placeholders."
        )

    def fill(matched: re.Match[str]) -> str:
        return encode_segment(_value_at(values, matched[1]), f"input.{matched[1]}")

    path = url[len(authority) :]
    filled = _PLACEHOLDER.sub(fill, path)
    refuse_path_traversal(path, filled, "input")
    return authority + filled


def _fill_placeholders(template: object, values: JsonObject) -> Any:
    """Replace the placeholders in a JSON value; a text that is only a placeholder takes the value's type."""
    if isinstance(template, dict):
        return {name: _fill_placeholders(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_fill_placeholders(item, values) for item in template]
    if not isinstance(template, str):
        return template
    if alone := _PLACEHOLDER.fullmatch(template):
        return _value_at(values, alone[1])
    return _PLACEHOLDER.sub(lambda matched: to_text(_value_at(values, matched[1])), template)


def _value_at(values: object, path: str) -> Any:
    for name in path.split("."):
        if isinstance(values, dict) and name in values:
            values = values[name]
        elif isinstance(values, list) and name.isdigit() and int(name) < len(values):
            values = values[int(name)]
        else:
            raise Invalid({f"input.{path}": "is required"})
    return values
