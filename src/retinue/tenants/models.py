from enum import StrEnum
from typing import Annotated, Any

from retinue.kit.db.models import Added, Record, table


class Plan(StrEnum):
    free = "free"
    pro = "pro"
    team = "team"
    enterprise = "enterprise"


@table("tenants", prefix="ten")
class Tenant(Record, kw_only=True):
    """One customer of the instance: its plan, and its own numbers over the plan's."""

    name: str
    plan: Plan
    limits: dict[str, Any] = {}
    is_default: bool = False
    is_listened_to: Annotated[bool, Added("false")] = False
    """Whether it ever had a webhook or a subscription: only then is the worker told of its events."""
