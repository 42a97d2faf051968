from retinue.adapters.llm.prices import ListPrices
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.usage.enforcement import BudgetCache
from retinue.usage.events import (
    BudgetCreated,
    BudgetDeleted,
    BudgetThresholdReached,
    BudgetUnpriced,
    BudgetUpdated,
    LimitReached,
    ModelPriceDeleted,
    ModelPriceSet,
)
from retinue.usage.jobs import JOBS
from retinue.usage.models import Budget, InstanceModelPrice, ModelPrice, UsageEntry
from retinue.usage.price_routes import routes as price_routes
from retinue.usage.routes import routes

manifest = Manifest(
    name="usage",
    records=(UsageEntry, Budget, ModelPrice, InstanceModelPrice),
    routes=(routes, price_routes),
    events=(
        LimitReached,
        BudgetThresholdReached,
        BudgetUnpriced,
        BudgetCreated,
        BudgetUpdated,
        BudgetDeleted,
        ModelPriceSet,
        ModelPriceDeleted,
    ),
    jobs=JOBS,
    process_state=(
        ProcessState(BudgetCache, BudgetCache),
        ProcessState(ListPrices, lambda instance: ListPrices(instance.settings.data_dir)),
    ),
)
