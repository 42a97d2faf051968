from retinue.kit.errors import Conflict


class PlanStale(Conflict):
    """The tenant or the document has changed since the plan was made. Make a new plan and review it."""

    code = "plan_stale"
