from retinue.files.service import REFERENCE as FILE
from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
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
from retinue.users.profiles import detach_picture, find_users_with_picture
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
    references=(Reference(to=FILE, kind="users", find=find_users_with_picture, detach=detach_picture),),
)
