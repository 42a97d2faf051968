from retinue.approvals.events import ApprovalApproved, ApprovalRejected, ApprovalRequested, ApprovalTimedOut
from retinue.approvals.jobs import expire_approvals, forget_approval_links, forget_old_approvals
from retinue.approvals.models import Approval, Assignment, Link, Response
from retinue.approvals.routes import ROUTES
from retinue.approvals.telling import tell_approvers
from retinue.kit.manifest import Manifest

manifest = Manifest(
    name="approvals",
    records=(Approval, Assignment, Response, Link),
    routes=ROUTES,
    events=(ApprovalRequested, ApprovalApproved, ApprovalRejected, ApprovalTimedOut),
    jobs=(tell_approvers, expire_approvals, forget_approval_links, forget_old_approvals),
)
