from retinue.kit.errors import Conflict, Forbidden, NotFound, RetinueError


class ApprovalNotFound(NotFound):
    """There is no such approval."""

    code = "approval_not_found"


class NotAnApprover(Forbidden):
    """You are not an approver of this request."""

    def __init__(self, your_role: str, message: str | None = None) -> None:
        super().__init__("approver", your_role, reason="not_an_approver", message=message)


class NotTheRequester(Forbidden):
    """Only the requester or an administrator may do this."""

    def __init__(self, your_role: str) -> None:
        super().__init__("requester", your_role, reason="not_the_requester")


class ApprovalAlreadyResolved(Conflict):
    """This approval has already been decided."""

    code = "approval_already_resolved"


class AlreadyResponded(Conflict):
    """You have already decided this approval."""

    code = "already_responded"


class ApprovalExpired(RetinueError):
    """This approval has expired and can no longer be decided."""

    status, code = 410, "approval_expired"
