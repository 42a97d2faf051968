from typing import Annotated

from retinue.approvals.errors import ApprovalNotFound
from retinue.approvals.models import Approval
from retinue.approvals.queries import find_visible
from retinue.kit.http.routing import Loaded

ApprovalById = Annotated[Approval, Loaded("approval_id", find_visible, ApprovalNotFound)]
