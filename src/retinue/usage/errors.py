from retinue.kit.errors import Conflict, NotFound, RateLimited


class BudgetNotFound(NotFound):
    """There is no such budget."""

    code = "budget_not_found"


class TooManyBudgets(Conflict):
    """There are as many budgets as a tenant can have; delete one first."""


class BudgetExceeded(RateLimited):
    """A budget is spent; it begins anew with its next period."""

    code = "budget_exceeded"
