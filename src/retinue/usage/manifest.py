from retinue.kit.manifest import Manifest
from retinue.usage.events import (
    BudgetCreated,
    BudgetDeleted,
    BudgetThresholdReached,
    BudgetUpdated,
    LimitReached,
)
from retinue.usage.jobs import compact_usage
from retinue.usage.models import Budget, UsageEntry
from retinue.usage.routes import routes
from retinue.usage.spending import watch_budget

manifest = Manifest(
    name="usage",
    records=(UsageEntry, Budget),
    routes=(routes,),
    events=(LimitReached, BudgetThresholdReached, BudgetCreated, BudgetUpdated, BudgetDeleted),
    jobs=(compact_usage, watch_budget),
)
