from retinue.files.service import REFERENCE as FILE
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.users.events import (
    AccessRequested,
    InvitationAccepted,
    InvitationResent,
    InvitationRevoked,
    UserApprovalRequested,
    UserApproved,
    UserCreated,
    UserDeactivated,
    UserDeleted,
    UserInvited,
    UserMfaReset,
    UserReactivated,
    UserRoleChanged,
    UserUpdated,
)
from retinue.users.models import AccessRequest, Invitation, User
from retinue.users.profiles import detach_picture, find_users_with_picture
from retinue.users.routes import ROUTES

manifest = Manifest(
    name="users",
    records=(User, Invitation, AccessRequest),
    routes=ROUTES,
    events=(
        UserCreated,
        UserApprovalRequested,
        AccessRequested,
        UserApproved,
        UserUpdated,
        UserRoleChanged,
        UserDeactivated,
        UserReactivated,
        UserDeleted,
        UserMfaReset,
        UserInvited,
        InvitationResent,
        InvitationAccepted,
        InvitationRevoked,
    ),
    references=(Reference(to=FILE, kind="users", find=find_users_with_picture, detach=detach_picture),),
    search_sources=(
        SearchSource(
            kind="user",
            requires="admin:users",
            record=User,
            name=User.__table__.c.first_name + " " + User.__table__.c.last_name,
            description=User.__table__.c.email,
        ),
    ),
)
