from retinue.workflows.routes.batch import routes as batch
from retinue.workflows.routes.drafts import routes as drafts
from retinue.workflows.routes.executions import routes as executions
from retinue.workflows.routes.proposals import routes as proposals
from retinue.workflows.routes.schedules import preview_routes as schedule_previews
from retinue.workflows.routes.schedules import routes as schedules
from retinue.workflows.routes.workflows import routes as workflows

ROUTES = (workflows, proposals, drafts, executions, schedules, schedule_previews, batch)
