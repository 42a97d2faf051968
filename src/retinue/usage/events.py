from retinue.kit.events.declare import Event, event


@event(
    "system.limit.reached",
    subject="limit",
    example={"limit": "requests_per_minute", "allowed": 600, "window": "minute"},
)
class LimitReached(Event, kw_only=True):
    """Requests of the tenant were refused because a limit of its plan was reached."""

    limit: str
    allowed: int
    window: str


@event(
    "system.budget.threshold",
    subject="budget_id",
    example={
        "budget_id": "bdg_…",
        "scope": {"type": "agent", "id": "agt_…"},
        "threshold_percent": 80,
        "spent_usd": 81.4,
        "budget_usd": 100.0,
        "spent_tokens": None,
        "budget_tokens": None,
        "period": "2026-11",
        "action": "block",
    },
)
class BudgetThresholdReached(Event, kw_only=True):
    """Spending passed the threshold of a budget; emitted once in each of its periods."""

    budget_id: str
    scope: dict[str, str | None]
    threshold_percent: int
    spent_usd: float | None = None
    budget_usd: float | None = None
    spent_tokens: int | None = None
    budget_tokens: int | None = None
    period: str
    action: str


@event(
    "system.budget.unpriced",
    subject="budget_id",
    example={
        "budget_id": "bdg_…",
        "model": "openai_compatible/my-model",
        "period": "2026-11",
        "action": "refuse",
    },
)
class BudgetUnpriced(Event, kw_only=True):
    """A model without a known price was used or refused; once for each model and period of a budget."""

    budget_id: str
    model: str
    period: str
    action: str


@event("system.budget.created", subject="budget_id", audited=True, listed=False)
class BudgetCreated(Event, kw_only=True):
    """A budget was created."""

    budget_id: str


@event(
    "system.budget.updated",
    subject="budget_id",
    audited=True,
    example={"budget_id": "bdg_…", "changed": ["limit_usd"]},
)
class BudgetUpdated(Event, kw_only=True):
    """A budget was changed."""

    budget_id: str
    changed: list[str]


@event("system.budget.deleted", subject="budget_id", audited=True, example={"budget_id": "bdg_…"})
class BudgetDeleted(Event, kw_only=True):
    """A budget was deleted."""

    budget_id: str


@event(
    "system.model_price.set",
    subject="model",
    audited=True,
    example={"model": "openai/gpt-4o", "scope": "tenant"},
)
class ModelPriceSet(Event, kw_only=True):
    """The price of a model was set for the tenant or the instance."""

    model: str
    scope: str


@event("system.model_price.deleted", subject="model", audited=True, listed=False)
class ModelPriceDeleted(Event, kw_only=True):
    """The price of a model was deleted; the next one in order holds again."""

    model: str
    scope: str
