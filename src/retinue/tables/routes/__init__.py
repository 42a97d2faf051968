from retinue.tables.routes.columns import routes as columns
from retinue.tables.routes.rows import routes as rows
from retinue.tables.routes.tables import routes as tables
from retinue.tables.routes.transfers import routes as transfers

ROUTES = (tables, columns, rows, transfers)
