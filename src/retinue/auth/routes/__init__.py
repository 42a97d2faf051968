from retinue.auth.routes.accounts import routes as accounts
from retinue.auth.routes.mfa import routes as mfa
from retinue.auth.routes.mfa import sign_in_routes as mfa_sign_in
from retinue.auth.routes.pages import routes as pages
from retinue.auth.routes.roles import routes as roles
from retinue.auth.routes.sessions import routes as sessions
from retinue.auth.routes.setup import routes as setup
from retinue.auth.routes.sign_in import routes as sign_in
from retinue.auth.routes.tenants import routes as tenants
from retinue.auth.routes.users import routes as users

ROUTES = (sign_in, setup, mfa_sign_in, mfa, accounts, sessions, roles, tenants, users, pages)
