from retinue.approvals.events import ApprovalApproved, ApprovalRejected, ApprovalRequested, ApprovalTimedOut
from retinue.approvals.jobs import JOBS
from retinue.approvals.models import Approval, ApprovalLink, ApprovalResponse, Assignment
from retinue.approvals.routes import ROUTES
from retinue.kit.context.manifest import Manifest

manifest = Manifest(
    name="approvals",
    records=(Approval, Assignment, ApprovalResponse, ApprovalLink),
    routes=ROUTES,
    events=(ApprovalRequested, ApprovalApproved, ApprovalRejected, ApprovalTimedOut),
    jobs=JOBS,
)
