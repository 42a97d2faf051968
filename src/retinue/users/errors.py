from retinue.kit.errors import Conflict, RetinueError


class UserNotFound(RetinueError):
    """There is no such user."""

    status, code = 404, "user_not_found"


class InvitationNotFound(RetinueError):
    """There is no such invitation."""

    status, code = 404, "invitation_not_found"


class EmailTaken(Conflict):
    """An account with this email address exists."""

    code = "email_taken"


class CannotModifySelf(Conflict):
    """Ask another administrator: you cannot do this to your own account."""

    code = "cannot_modify_self"


class LastSuperAdmin(Conflict):
    """This is the last active super administrator."""

    code = "last_super_admin"
