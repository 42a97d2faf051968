from retinue.events.routes.log import emitting
from retinue.events.routes.log import routes as log
from retinue.events.routes.subscriptions import of_workflows
from retinue.events.routes.subscriptions import routes as subscriptions
from retinue.events.routes.types import routes as types

ROUTES = (types, subscriptions, of_workflows, log, emitting)
