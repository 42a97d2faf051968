"""Kinds of `custom` tools that upper domains add: a workflow, an agent, a form, a data table as a tool.

A manifest lists its `ToolKind`s; `tools` finds them by `config.kind` and runs them like its own.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from retinue.kit.context import Context
from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject

DEFAULT_TIMEOUT_MS = 30_000
TOOL_CONFIG_FIELDS = ("ToolCreate.config", "ToolUpdate.config")


class ToolConfig(msgspec.Struct, kw_only=True):
    """The keys that the configuration of every tool may have."""

    timeout_ms: Annotated[int, Meta(ge=1, le=2**31)] = DEFAULT_TIMEOUT_MS


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """The call of a tool; `config` includes the override of the agent's attachment."""

    config: JsonObject
    input: JsonObject
    timeout_s: float
    agent_id: str | None = None


class ToolKind(msgspec.Struct, frozen=True, kw_only=True):
    """`run` returns the output; an error that it raises becomes the execution's error.

    `config` declares the keys of the configuration. Their types are checked when a tool is saved; a missing
    key is the kind's own `not_configured` when the tool runs.
    """

    name: str
    run: Callable[[Any, ToolRun], Awaitable[Any]]
    config: type[ToolConfig] = ToolConfig

    @property
    def config_schema(self) -> ConfigSchema:
        return ConfigSchema(fields=TOOL_CONFIG_FIELDS, kind=f"custom/{self.name}", schema=self.config)


def find_tool_kind(ctx: Context, name: str) -> ToolKind | None:
    return next((kind for kind in ctx.instance.registry.all(ToolKind) if kind.name == name), None)


_Config = TypeVar("_Config", bound=ToolConfig)


def parse_tool_config(call: ToolRun, config: type[_Config], not_configured: type[RetinueError]) -> _Config:
    """Return the configuration of a run as its struct, or raise the error of a kind that lacks a key."""
    try:
        return msgspec.convert(call.config, config)
    except msgspec.ValidationError:
        raise not_configured from None
