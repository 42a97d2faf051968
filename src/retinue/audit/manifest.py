from retinue.audit.events import AuditExported
from retinue.audit.routes import keys_routes, routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(name="audit", routes=(routes, keys_routes), events=(AuditExported,))
