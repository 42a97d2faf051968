"""The jobs that usage enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind


class BudgetToWatch(msgspec.Struct):
    budget_id: str


WATCH_BUDGET = JobKind("usage.watch_budget", BudgetToWatch)


class ModelToAnnounce(msgspec.Struct):
    budget_id: str
    model: str


ANNOUNCE_UNPRICED = JobKind("usage.announce_unpriced", ModelToAnnounce)
