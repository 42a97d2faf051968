from retinue.approvals.routes.approvals import routes as approvals
from retinue.approvals.routes.public import routes as public

ROUTES = (approvals, public)
