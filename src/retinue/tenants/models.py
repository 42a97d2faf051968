from enum import StrEnum
from typing import Annotated

from retinue.kit.db.models import Record, ServerDefault, table
from retinue.kit.json_types import JsonObject


class Plan(StrEnum):
    free = "free"
    pro = "pro"
    team = "team"
    enterprise = "enterprise"


@table("tenants", prefix="ten")
class Tenant(Record, kw_only=True):
    """A customer of the instance. `limits` overrides single limits of its plan."""

    name: str
    plan: Plan
    limits: JsonObject = {}
    is_default: bool = False
    is_listened_to: Annotated[bool, ServerDefault("false")] = False
    """Whether the tenant ever had a webhook or a subscription. Events are sent to the worker only then."""
    trace_sample: float | None = None
    """The share of its traces to keep; None leaves it to the instance."""
