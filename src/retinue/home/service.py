"""Home: what needs the caller, how today is going, what is still to set up."""

from collections.abc import Awaitable, Callable

import msgspec

from retinue.approvals.queries import count_pending
from retinue.home import budget_needs, instance_needs, needs, receiver_needs
from retinue.home.checklist import load_checklist
from retinue.home.model_needs import find_failing_models
from retinue.home.price_needs import find_unpriced_models
from retinue.home.schemas import Checklist, ComparedDay, Home, HomeCounts, Need, NeedSeverity, Today
from retinue.home.today import load_compared_day, load_today
from retinue.kit.context import Context
from retinue.notifications.inbox import find_inbox

CACHE_SECONDS = 10.0
_MAX_CACHED = 1_000

NeedFinder = Callable[[Context], Awaitable[list[Need]]]

# The permissions that show a need: to read its object, and to do something about it. Whoever only looks on
# would be asked for what somebody else has to do. A spent budget stops the agents of those who cannot raise
# it, too. Approvals are the caller's own and never cached.
_SHARED_NEEDS: dict[NeedFinder, tuple[str, ...]] = {
    needs.find_failing_webhooks: ("webhooks:read", "webhooks:write"),
    needs.find_failed_runs: ("workflows:read", "workflows:execute"),
    needs.find_failing_channels: ("notification_channels:read", "notification_channels:write"),
    needs.find_refused_keys: ("api_keys:read", "api_keys:write"),
    needs.find_ailing_credentials: ("credentials:read", "credentials:write"),
    needs.find_failed_documents: ("agents:read", "agents:write"),
    budget_needs.find_near_budgets: ("usage:read",),
    budget_needs.find_spent_keys: ("usage:read", "api_keys:read"),
    receiver_needs.find_failing_subscriptions: ("events:read", "events:write"),
    receiver_needs.find_late_audit_streams: ("audit:read", "audit:write"),
    receiver_needs.find_failing_trace_exporters: ("traces:read", "traces:write"),
    receiver_needs.find_failing_instance_export: ("admin:tenants",),
    find_failing_models: ("agents:read", "agents:write"),
    find_unpriced_models: ("agents:read", "usage:read"),
    instance_needs.find_sealed_vault: ("api_keys:write",),
    instance_needs.find_stuck_worker: ("api_keys:write",),
    instance_needs.find_waiting_accounts: ("admin:users",),
}
_SHOW_NEEDS = frozenset(key for keys in _SHARED_NEEDS.values() for key in keys)
# What is only for those who run the instance is no need of the tenant.
_SHOW_ALL_NEEDS = _SHOW_NEEDS - {"admin:tenants"}
_SEEN_BY = _SHOW_NEEDS | {"embed_keys:read"}


class SharedHome(msgspec.Struct):
    """The part of Home that all callers of a tenant with the same permissions share."""

    needs: list[Need]
    today: Today | None
    compared_with: ComparedDay | None
    checklist: Checklist


class HomeCache:
    """Keeps the shared parts of each tenant for ten seconds in this process."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, frozenset[str]], tuple[float, SharedHome]] = {}

    async def load(self, ctx: Context, permissions: frozenset[str]) -> SharedHome:
        key, now = (ctx.tenant_id, permissions), ctx.clock.monotonic()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < CACHE_SECONDS:
            return kept[1]
        shared = await _load_shared(ctx, permissions)
        if len(self._kept) >= _MAX_CACHED:
            self._kept.clear()
        self._kept[key] = (now, shared)
        return shared


async def load_home(ctx: Context) -> Home:
    permissions = frozenset(key for key in _SEEN_BY if ctx.principal.may(key))
    shared = await ctx.state(HomeCache).load(ctx, permissions)
    is_approver = ctx.principal.may("approvals:read")
    own = await needs.find_waiting_approvals(ctx) if is_approver else []
    if ctx.principal.is_super_admin:
        own += await instance_needs.find_unused_administrator(ctx)
    counts = HomeCounts(
        approvals=await count_pending(ctx) if is_approver else None, unread=(await find_inbox(ctx)).unread
    )
    return Home(
        needs=worst_first([*own, *shared.needs]),
        sees_all_needs=permissions >= _SHOW_ALL_NEEDS and is_approver,
        today=shared.today,
        compared_with=shared.compared_with,
        checklist=shared.checklist,
        counts=counts,
    )


def worst_first(open_needs: list[Need]) -> list[Need]:
    """Order by severity, then the latest first."""
    latest = sorted(open_needs, key=lambda need: need.since, reverse=True)
    return sorted(latest, key=lambda need: need.severity is not NeedSeverity.bad)


async def _load_shared(ctx: Context, permissions: frozenset[str]) -> SharedHome:
    found = [
        need
        for find, needed in _SHARED_NEEDS.items()
        if permissions.issuperset(needed)
        for need in await find(ctx)
    ]
    may_see_usage = "usage:read" in permissions
    return SharedHome(
        needs=found,
        today=await load_today(ctx) if may_see_usage else None,
        compared_with=await load_compared_day(ctx) if may_see_usage else None,
        checklist=await load_checklist(ctx, permissions),
    )
