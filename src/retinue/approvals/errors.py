from retinue.kit.errors import Conflict, Forbidden, NotFound, RetinueError


class ApprovalNotFound(NotFound):
    """There is no such approval."""

    code = "approval_not_found"


class NotAnApprover(Forbidden):
    """You are not one of those who decide this."""

    def __init__(self, your_role: str, message: str | None = None) -> None:
        super().__init__("approver", your_role, reason="not_an_approver", message=message)


class NotTheRequester(Forbidden):
    """Only whoever asked for it, or an administrator, may do this."""

    def __init__(self, your_role: str) -> None:
        super().__init__("requester", your_role, reason="not_the_requester")


class ApprovalAlreadyResolved(Conflict):
    """This has been decided already."""

    code = "approval_already_resolved"


class AlreadyResponded(Conflict):
    """You have answered this already."""

    code = "already_responded"


class ApprovalExpired(RetinueError):
    """The time to decide this is over."""

    status, code = 410, "approval_expired"
