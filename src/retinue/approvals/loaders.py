from typing import Annotated

from retinue.approvals.errors import ApprovalNotFound
from retinue.approvals.models import Approval
from retinue.approvals.queries import find_visible
from retinue.kit.http.routing import PathLoader

ApprovalById = Annotated[Approval, PathLoader("approval_id", find_visible, ApprovalNotFound)]
