from retinue.kit.context.manifest import Manifest
from retinue.tenant_file.events import TenantExported, TenantFileApplied
from retinue.tenant_file.models import FileName
from retinue.tenant_file.routes import routes

manifest = Manifest(
    name="tenant_file", records=(FileName,), routes=(routes,), events=(TenantExported, TenantFileApplied)
)
