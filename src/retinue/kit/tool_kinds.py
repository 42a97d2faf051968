"""Kinds of `custom` tools that upper domains add: a workflow, an agent, a form, a data table as a tool.

A manifest lists its `ToolKind`s; `tools` finds them by `config.kind` and runs them like its own.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from retinue.kit.context import Context


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind gets to run: the configuration with the attachment's override over it, and the input."""

    config: dict[str, Any]
    input: dict[str, Any]
    timeout_s: float
    agent_id: str | None = None


class ToolKind(msgspec.Struct, frozen=True, kw_only=True):
    """`run` answers with the output; what it raises is the execution's error, by its code and message."""

    name: str
    run: Callable[[Any, ToolRun], Awaitable[Any]]


def find_tool_kind(ctx: "Context", name: str) -> ToolKind | None:
    kinds = (kind for manifest in ctx.instance.manifests for kind in manifest.tool_kinds)
    return next((kind for kind in kinds if kind.name == name), None)
