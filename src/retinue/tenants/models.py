from typing import Any

from retinue.kit.db.models import Record, table


@table("tenants", prefix="ten")
class Tenant(Record, kw_only=True):
    """One customer of the instance: its plan, and its own numbers over the plan's."""

    name: str
    plan: str
    limits: dict[str, Any] = {}
    is_default: bool = False
