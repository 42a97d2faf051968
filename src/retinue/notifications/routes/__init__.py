from retinue.notifications.routes.channels import routes as channels
from retinue.notifications.routes.notifications import routes as notifications

ROUTES = (channels, notifications)
