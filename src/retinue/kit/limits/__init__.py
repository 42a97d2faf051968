"""Rate limits by plan, plain throttles and concurrency leases, in memory or in Redis.

Import `RedisStore` from `retinue.kit.limits.redis` only if Redis is configured: its client is slow to import.
"""

from retinue.kit.limits.decision import LimitsUnreachable, RateLimitDecision
from retinue.kit.limits.lease import Lease
from retinue.kit.limits.limiter import Limiter
from retinue.kit.limits.memory import MemoryStore, WindowUsage
from retinue.kit.limits.plans import COST, PLANS, PlanLimits, limits_for

__all__ = [
    "COST",
    "PLANS",
    "Lease",
    "Limiter",
    "LimitsUnreachable",
    "MemoryStore",
    "PlanLimits",
    "RateLimitDecision",
    "WindowUsage",
    "limits_for",
]
