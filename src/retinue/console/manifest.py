from retinue.console.routes import routes, start_routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(name="console", routes=(routes, start_routes))
