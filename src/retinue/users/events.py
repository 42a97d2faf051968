from retinue.kit.events.declare import Event, event


@event(
    "system.user.created",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "email": "ada@example.com", "role": "agent_user"},
)
class UserCreated(Event, kw_only=True):
    """An account was created."""

    user_id: str
    email: str
    role: str


@event(
    "system.user.approval_requested",
    subject="user_id",
    example={"user_id": "usr_…", "email": "ada@example.com", "role": "agent_user"},
)
class UserApprovalRequested(Event, kw_only=True):
    """Someone registered, and an administrator has to approve the account before it can be used."""

    user_id: str
    email: str
    role: str


@event(
    "system.user.access_requested",
    subject="user_id",
    example={"user_id": "usr_…", "permission": "workflows:execute", "note": "I run the nightly report."},
)
class AccessRequested(Event, kw_only=True):
    """A user asked the administrators for a permission."""

    user_id: str
    permission: str
    note: str


@event("system.user.approved", subject="user_id", audited=True, example={"user_id": "usr_…"})
class UserApproved(Event, kw_only=True):
    """An administrator approved an account, explicitly or by giving it a role."""

    user_id: str


@event(
    "system.user.updated",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "changed": ["timezone"]},
)
class UserUpdated(Event, kw_only=True):
    """Someone changed their profile."""

    user_id: str
    changed: list[str]


@event(
    "system.user.role_changed",
    subject="user_id",
    audited=True,
    example={"user_id": "usr_…", "role": "agent_developer", "previous_role": "agent_user"},
)
class UserRoleChanged(Event, kw_only=True):
    """A user's role was changed."""

    user_id: str
    role: str
    previous_role: str


@event("system.user.deactivated", subject="user_id", audited=True, example={"user_id": "usr_…"})
class UserDeactivated(Event, kw_only=True):
    """An account was deactivated and its sessions ended."""

    user_id: str


@event("system.user.reactivated", subject="user_id", audited=True, example={"user_id": "usr_…"})
class UserReactivated(Event, kw_only=True):
    """A deactivated account was reactivated."""

    user_id: str


@event("system.user.deleted", subject="user_id", audited=True, example={"user_id": "usr_…"})
class UserDeleted(Event, kw_only=True):
    """An account was deleted. Everything it created stays with the tenant."""

    user_id: str


@event("system.user.mfa_reset", subject="user_id", audited=True, example={"user_id": "usr_…"})
class UserMfaReset(Event, kw_only=True):
    """An administrator removed a user's second factor and ended the user's sessions."""

    user_id: str


@event(
    "system.user.invited",
    subject="invitation_id",
    audited=True,
    example={
        "invitation_id": "inv_…",
        "email": "ada@example.com",
        "role": "agent_user",
        "is_link_shown": False,
    },
)
class UserInvited(Event, kw_only=True):
    """Someone was invited to join the tenant. Without a mail server, the link was shown to the inviter."""

    invitation_id: str
    email: str
    role: str
    is_link_shown: bool


@event(
    "system.user.invitation_resent",
    subject="invitation_id",
    audited=True,
    example={"invitation_id": "inv_…", "email": "ada@example.com", "is_link_shown": False},
)
class InvitationResent(Event, kw_only=True):
    """An invitation got a new link; the previous link stopped working."""

    invitation_id: str
    email: str
    is_link_shown: bool


@event(
    "system.user.invitation_accepted",
    subject="invitation_id",
    audited=True,
    example={"invitation_id": "inv_…", "user_id": "usr_…"},
)
class InvitationAccepted(Event, kw_only=True):
    """Someone registered with an invitation and joined the tenant."""

    invitation_id: str
    user_id: str


@event(
    "system.user.invitation_revoked",
    subject="invitation_id",
    audited=True,
    example={"invitation_id": "inv_…", "email": "ada@example.com"},
)
class InvitationRevoked(Event, kw_only=True):
    """An invitation was revoked."""

    invitation_id: str
    email: str
