from retinue.tools.routes.executions import routes as executions
from retinue.tools.routes.imports import routes as imports
from retinue.tools.routes.tools import routes as tools

ROUTES = (tools, imports, executions)
