from retinue.kit.context.manifest import Manifest
from retinue.operate.events import JobRetried
from retinue.operate.routes import routes

manifest = Manifest(name="operate", routes=(routes,), events=(JobRetried,))
