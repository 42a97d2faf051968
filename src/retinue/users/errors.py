from retinue.kit.errors import Conflict, InternalError, RetinueError


class UserNotFound(RetinueError):
    """There is no such user."""

    status, code = 404, "user_not_found"


class InvitationNotFound(RetinueError):
    """There is no such invitation."""

    status, code = 404, "invitation_not_found"


class EmailTaken(Conflict):
    """An account with this email address already exists."""

    code = "email_taken"


class PermissionAlreadyHeld(Conflict):
    """You already have this permission. Reload the page if it does not show."""

    code = "permission_already_held"


class AccessAlreadyRequested(Conflict):
    """You asked for this permission within the last seven days. The administrators know of it."""

    code = "access_already_requested"


class CannotModifySelf(Conflict):
    """You cannot do this to your own account. Ask another administrator."""

    code = "cannot_modify_self"


class LastSuperAdmin(Conflict):
    """This is the last active super administrator. Make another user a super administrator first."""

    code = "last_super_admin"


class RequesterInactive(InternalError):
    """The account that asked for this is no longer active."""

    status, code = 403, "forbidden"
    shown_in = "chat jobs, tool executions"
