from retinue.workflows.routes.batch import routes as batch
from retinue.workflows.routes.executions import routes as executions
from retinue.workflows.routes.schedules import routes as schedules
from retinue.workflows.routes.workflows import routes as workflows

ROUTES = (workflows, executions, schedules, batch)
