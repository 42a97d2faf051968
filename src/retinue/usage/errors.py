from retinue.kit.errors import Conflict, NotFound, RateLimited, RetinueError


class BudgetNotFound(NotFound):
    """There is no such budget."""

    code = "budget_not_found"


class TooManyBudgets(Conflict):
    """The tenant has reached the maximum number of budgets. Delete one first."""


class BudgetExceeded(RateLimited):
    """A budget is spent. Raise it or wait until its next period begins."""

    code = "budget_exceeded"


class MonthlyTokensSpent(RateLimited):
    """The tokens for this month are used up."""

    scope_type = ""
    """Whose tokens they are."""


class ModelPriceNotFound(NotFound):
    """No price was set for this model in this scope."""

    code = "model_price_not_found"


class TooManyModelPrices(Conflict):
    """The maximum number of prices is reached. Delete one first."""


class ModelUnpriced(RetinueError):
    """The model has no known price, and a budget in dollars refuses such models. Set its price first."""

    status, code = 422, "model_unpriced"
