from retinue.kit.events.declare import Event, event

_EXAMPLE = {"tool_id": "tool_…", "name": "Weather"}


class ToolEvent(Event, kw_only=True):
    tool_id: str
    name: str


@event("system.tool.created", subject="tool_id", audited=True, example={**_EXAMPLE, "tool_type": "rest_api"})
class ToolCreated(ToolEvent, kw_only=True):
    """A tool was registered."""

    tool_type: str


@event("system.tool.updated", subject="tool_id", audited=True, example={**_EXAMPLE, "changed": ["config"]})
class ToolUpdated(ToolEvent, kw_only=True):
    """A tool was changed. If `changed` lists `auth_destination`, its secrets have a new destination."""

    changed: list[str]


@event("system.tool.deleted", subject="tool_id", audited=True, example=_EXAMPLE)
class ToolDeleted(ToolEvent, kw_only=True):
    """A tool and the records of its executions were deleted."""
