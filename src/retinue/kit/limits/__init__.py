"""Rate limits by plan, plain throttles and concurrency leases, in memory or in Redis.

`RedisStore` is imported from `retinue.kit.limits.redis` by whoever has a Redis: the client is slow to import.
"""

from retinue.kit.limits.decision import Decision, LimitsUnreachable
from retinue.kit.limits.limiter import Limiter
from retinue.kit.limits.memory import MemoryStore, Used
from retinue.kit.limits.plans import COST, PLANS, PlanLimits, limits_for

__all__ = [
    "COST",
    "PLANS",
    "Decision",
    "Limiter",
    "LimitsUnreachable",
    "MemoryStore",
    "PlanLimits",
    "Used",
    "limits_for",
]
