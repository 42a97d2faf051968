from retinue.kit.errors import Conflict, NotFound, RateLimited


class BudgetNotFound(NotFound):
    """There is no such budget."""

    code = "budget_not_found"


class TooManyBudgets(Conflict):
    """The tenant has reached the maximum number of budgets. Delete one first."""


class BudgetExceeded(RateLimited):
    """A budget is spent. Raise it or wait until its next period begins."""

    code = "budget_exceeded"
