from retinue.approvals.events import ApprovalApproved, ApprovalRejected, ApprovalRequested, ApprovalTimedOut
from retinue.approvals.jobs import JOBS
from retinue.approvals.models import Approval, ApprovalLink, ApprovalResponse, Assignment
from retinue.approvals.queries import count_waiting
from retinue.approvals.routes import ROUTES
from retinue.kit.context.manifest import Manifest
from retinue.kit.metrics import declarations as metrics
from retinue.kit.metrics.sampler import DatabaseGauge

manifest = Manifest(
    name="approvals",
    records=(Approval, Assignment, ApprovalResponse, ApprovalLink),
    routes=ROUTES,
    events=(ApprovalRequested, ApprovalApproved, ApprovalRejected, ApprovalTimedOut),
    jobs=JOBS,
    gauges=(DatabaseGauge((metrics.APPROVALS_WAITING,), count_waiting),),
)
