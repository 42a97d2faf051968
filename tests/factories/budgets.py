"""Budgets, straight into the database."""

from retinue.usage.models import Budget, BudgetAction, OnUnpriced, ScopeType


def some_budget(created_by: str) -> Budget:
    """Return a budget that only notifies."""
    return Budget(
        scope_type=ScopeType.tenant,
        scope_id="",
        limit_usd=1_000.0,
        action=BudgetAction.notify,
        on_unpriced=OnUnpriced.allow,
        created_by=created_by,
    )
