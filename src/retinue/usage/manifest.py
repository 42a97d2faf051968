from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.usage.enforcement import BudgetCache
from retinue.usage.events import (
    BudgetCreated,
    BudgetDeleted,
    BudgetThresholdReached,
    BudgetUpdated,
    LimitReached,
)
from retinue.usage.jobs import JOBS
from retinue.usage.models import Budget, UsageEntry
from retinue.usage.routes import routes

manifest = Manifest(
    name="usage",
    records=(UsageEntry, Budget),
    routes=(routes,),
    events=(LimitReached, BudgetThresholdReached, BudgetCreated, BudgetUpdated, BudgetDeleted),
    jobs=JOBS,
    process_state=(ProcessState(BudgetCache, lambda _: BudgetCache()),),
)
