"""`http_template`: a request with `{{name}}` in it, each replaced by the value at that path of the input.

Nothing is evaluated: a name is looked up, and what is no name stays as it is written.
"""

import re
from typing import Any

from retinue.kit.errors import Invalid
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.configs import HttpTemplateConfig, read_config
from retinue.tools.executors.headers import checked_headers
from retinue.tools.executors.http_call import Request, send
from retinue.tools.executors.urls import as_text, encoded, query_pairs, refuse_steps

_SEGMENT = r"(?:[A-Za-z][A-Za-z0-9_-]*|\d{1,6})"
_PLACEHOLDER = re.compile(rf"\{{\{{\s*({_SEGMENT}(?:\.{_SEGMENT})*)\s*\}}\}}", re.ASCII)
_AUTHORITY = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)


async def run(call: Call) -> Any:
    template = read_config(call.config, HttpTemplateConfig).request
    return await send(
        call,
        Request(
            method=template.method.upper(),
            url=_url(template.url, call.input),
            query=query_pairs(_filled(template.query or {}, call.input)),
            headers=checked_headers(_filled(template.headers or {}, call.input), "input"),
            body=_filled(template.body, call.input),
        ),
    )


def _url(url: str, values: dict[str, Any]) -> str:
    """The URL with values in its path and query; where it leads is fixed by the configuration."""
    matched = _AUTHORITY.match(url)
    authority = matched[0] if matched else ""
    if not authority or "{{" in authority:
        raise ExecutionFailed(
            "not_configured", "config.request.url must begin with a scheme and a host without placeholders."
        )

    def fill(matched: re.Match[str]) -> str:
        return encoded(_value_at(values, matched[1]), f"input.{matched[1]}")

    path = url[len(authority) :]
    filled = _PLACEHOLDER.sub(fill, path)
    refuse_steps(path, filled, "input")
    return authority + filled


def _filled(template: Any, values: dict[str, Any]) -> Any:
    """A JSON value with every placeholder in its texts replaced; one that stands alone keeps its type."""
    if isinstance(template, dict):
        return {name: _filled(inner, values) for name, inner in template.items()}
    if isinstance(template, list):
        return [_filled(inner, values) for inner in template]
    if not isinstance(template, str):
        return template
    if alone := _PLACEHOLDER.fullmatch(template):
        return _value_at(values, alone[1])
    return _PLACEHOLDER.sub(lambda matched: as_text(_value_at(values, matched[1])), template)


def _value_at(values: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(values, dict) and name in values:
            values = values[name]
        elif isinstance(values, list) and name.isdigit() and int(name) < len(values):
            values = values[int(name)]
        else:
            raise Invalid({f"input.{path}": "is required"})
    return values
