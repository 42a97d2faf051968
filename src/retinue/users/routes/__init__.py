from retinue.users.routes.access import routes as access
from retinue.users.routes.invitations import routes as invitations
from retinue.users.routes.profile import routes as profile
from retinue.users.routes.users import routes as users

ROUTES = (access, users, invitations, profile)
