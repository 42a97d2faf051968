from retinue.kit.manifest import Manifest
from retinue.users.events import (
    InvitationAccepted,
    InvitationRevoked,
    UserCreated,
    UserDeactivated,
    UserDeleted,
    UserInvited,
    UserMfaReset,
    UserReactivated,
    UserRoleChanged,
    UserUpdated,
)
from retinue.users.models import Invitation, User
from retinue.users.routes import ROUTES

manifest = Manifest(
    name="users",
    records=(User, Invitation),
    routes=ROUTES,
    events=(
        UserCreated,
        UserUpdated,
        UserRoleChanged,
        UserDeactivated,
        UserReactivated,
        UserDeleted,
        UserMfaReset,
        UserInvited,
        InvitationAccepted,
        InvitationRevoked,
    ),
)
