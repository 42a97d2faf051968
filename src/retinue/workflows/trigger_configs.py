"""The configuration of a trigger: what each kind takes, and what keeps one from being published."""

from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.cron import CronInvalid, parse_cron
from retinue.kit.errors import Invalid
from retinue.kit.events.filters import check_filters, check_pattern
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import parse_config
from retinue.workflows.engine.node_type import Problems

_PATH = "trigger.config"


class EventTriggerConfig(msgspec.Struct, kw_only=True):
    """Settings of a trigger with `type` `event`."""

    event_type: str
    filters: JsonObject | None = None


class ScheduleTriggerConfig(msgspec.Struct, kw_only=True):
    """Settings of a trigger with `type` `schedule`."""

    cron: str
    timezone: str | None = "UTC"
    input: Any = msgspec.field(default_factory=dict)


TRIGGER_CONFIGS: dict[str, type[msgspec.Struct]] = {
    "event": EventTriggerConfig,
    "schedule": ScheduleTriggerConfig,
}
CONFIG_SCHEMAS = tuple(
    ConfigSchema(fields=("WorkflowTrigger.config",), kind=kind, schema=shape)
    for kind, shape in TRIGGER_CONFIGS.items()
)


def problems_of_trigger(trigger: JsonObject) -> Problems:
    config = trigger.get("config") or {}
    try:
        if trigger["type"] == "event":
            _check_event(parse_config(config, EventTriggerConfig, _PATH))
        elif trigger["type"] == "schedule":
            check_schedule(parse_config(config, ScheduleTriggerConfig, _PATH), prefix=f"{_PATH}.")
    except Invalid as invalid:
        return dict(invalid.details or {})
    return {}


def _check_event(config: EventTriggerConfig) -> None:
    check_pattern(config.event_type, f"{_PATH}.event_type")
    check_filters(config.filters or {}, f"{_PATH}.filters")


def check_schedule(schedule: ScheduleTriggerConfig, *, prefix: str = "") -> None:
    """Refuse times that cannot be understood, of a trigger or of a schedule by itself."""
    try:
        parse_cron(schedule.cron)
    except CronInvalid as invalid:
        raise Invalid({f"{prefix}cron": invalid.message}) from None
    try:
        ZoneInfo(schedule.timezone or "UTC")
    except (KeyError, ValueError, OSError):
        # An unknown name is a KeyError.
        raise Invalid({f"{prefix}timezone": "must be a time zone such as Europe/Berlin"}) from None
