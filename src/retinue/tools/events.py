from retinue.kit.events.declare import Event, event

_EXAMPLE = {"tool_id": "tool_…", "name": "Weather"}


class ToolEvent(Event, kw_only=True):
    tool_id: str
    name: str


@event("system.tool.created", subject="tool_id", audited=True, example={**_EXAMPLE, "tool_type": "rest_api"})
class ToolCreated(ToolEvent, kw_only=True):
    """A tool was registered."""

    tool_type: str


@event("tool.tried", subject="", audited=True, listed=False)
class ToolTried(Event, kw_only=True):
    """A tool that is not stored was run; `destination` is the address that it may call."""

    tool_type: str
    destination: str


@event("system.tool.updated", subject="tool_id", audited=True, example={**_EXAMPLE, "changed": ["config"]})
class ToolUpdated(ToolEvent, kw_only=True):
    """A tool was changed. If `changed` lists `auth_destination`, its secrets have a new destination."""

    changed: list[str]


@event("system.tool.deleted", subject="tool_id", audited=True, example=_EXAMPLE)
class ToolDeleted(ToolEvent, kw_only=True):
    """A tool and the records of its executions were deleted."""


@event(
    "system.tool.drifted",
    subject="tool_id",
    example={
        **_EXAMPLE,
        "created_by": "usr_…",
        "added": ["create_issue"],
        "removed": [],
        "changed": ["search_issues"],
    },
)
class ToolDrifted(ToolEvent, kw_only=True):
    """An MCP server offers other functions than those that were agreed to; agents keep the agreed ones.

    At most 50 names each are listed.
    """

    created_by: str
    added: list[str]
    removed: list[str]
    changed: list[str]
