from retinue.audit.events import (
    AuditExported,
    AuditStreamCreated,
    AuditStreamDeleted,
    AuditStreamUpdated,
)
from retinue.audit.jobs import JOBS
from retinue.audit.models import AuditStream
from retinue.audit.routes import keys_routes, routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(
    name="audit",
    records=(AuditStream,),
    routes=(routes, keys_routes),
    events=(AuditExported, AuditStreamCreated, AuditStreamUpdated, AuditStreamDeleted),
    jobs=JOBS,
)
