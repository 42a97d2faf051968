"""The plans and their limits; a tenant may override each limit."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.limits.window import UNLIMITED, Allowance

COST: Final = {"free": 0, "read": 1, "write": 2, "delete": 2, "execute": 5, "chat": 10}
"""Cost of a request in the minute window, by class; in the hour and day windows every request costs 1."""

_SPANS = (60_000, 3_600_000, 86_400_000)


def _number(limit: int | None) -> int:
    return UNLIMITED if limit is None else limit


# `dict=True` makes room for the cached properties, computed once per tenant instead of once per request.
class PlanLimits(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The limits of a plan; null means unlimited."""

    requests_per_minute: int | None
    requests_per_hour: int | None
    requests_per_day: int | None
    chat_per_minute: int | None
    workflow_executions_per_minute: int | None
    concurrent_executions: int | None
    burst_factor: float
    burst_seconds: int

    @cached_property
    def steady(self) -> Allowance:
        """Return the request limits without burst."""
        minute, hour, day = map(
            _number, (self.requests_per_minute, self.requests_per_hour, self.requests_per_day)
        )
        return Allowance(spans=_SPANS, limits=(minute, hour, day), ceiling=minute)

    @cached_property
    def bursting(self) -> Allowance:
        """Return the request limits with burst."""
        minute = self.steady.limits[0]
        return Allowance(
            spans=_SPANS,
            limits=self.steady.limits,
            ceiling=int(minute * self.burst_factor),
            burst_ms=self.burst_seconds * 1000,
        )


PLANS: Final[dict[str, PlanLimits]] = {
    "free": PlanLimits(
        requests_per_minute=60,
        requests_per_hour=1_000,
        requests_per_day=10_000,
        chat_per_minute=6,
        workflow_executions_per_minute=5,
        concurrent_executions=1,
        burst_factor=2.0,
        burst_seconds=10,
    ),
    "pro": PlanLimits(
        requests_per_minute=300,
        requests_per_hour=10_000,
        requests_per_day=100_000,
        chat_per_minute=30,
        workflow_executions_per_minute=30,
        concurrent_executions=5,
        burst_factor=3.0,
        burst_seconds=30,
    ),
    "team": PlanLimits(
        requests_per_minute=600,
        requests_per_hour=30_000,
        requests_per_day=300_000,
        chat_per_minute=60,
        workflow_executions_per_minute=60,
        concurrent_executions=10,
        burst_factor=5.0,
        burst_seconds=60,
    ),
    "enterprise": PlanLimits(
        requests_per_minute=12_000,
        requests_per_hour=300_000,
        requests_per_day=None,
        chat_per_minute=1_200,
        workflow_executions_per_minute=3_000,
        concurrent_executions=500,
        burst_factor=2.0,
        burst_seconds=60,
    ),
}


def limits_for(plan: str, overrides: Mapping[str, Any] | None = None) -> PlanLimits:
    """Return the plan's limits with a tenant's overrides; keep the result, it caches derived values."""
    if plan not in PLANS:
        raise Invalid({"plan": f"must be one of {', '.join(PLANS)}"})
    if not overrides:
        return PLANS[plan]
    wrong = {f"limits.{name}": fault for name, value in overrides.items() if (fault := _fault(name, value))}
    if wrong:
        raise Invalid(wrong)
    return msgspec.structs.replace(PLANS[plan], **overrides)


def _fault(name: str, value: object) -> str | None:
    if name not in PlanLimits.__struct_fields__:
        return "is not the name of a limit"
    if name == "burst_factor":
        return _factor_fault(value)
    if value is None and name != "burst_seconds":
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return "must be a whole number"
    if not 0 <= value <= UNLIMITED:
        return f"must be from 0 to {UNLIMITED}"
    return None


def _factor_fault(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "must be a number"
    if not math.isfinite(value) or not 1 <= value <= 1000:
        return "must be from 1 to 1000"
    return None
