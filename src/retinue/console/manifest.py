from retinue.console import files
from retinue.console.routes import routes, start_routes
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.account_links import ConsolePages

manifest = Manifest(name="console", routes=(routes, start_routes), provided=(ConsolePages(files.is_built),))
