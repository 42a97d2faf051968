from retinue.kit.context.manifest import Manifest
from retinue.search.routes import routes

manifest = Manifest(name="search", routes=(routes,))
