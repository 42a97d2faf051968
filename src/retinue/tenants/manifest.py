from retinue.kit.context.manifest import Manifest
from retinue.tenants.events import TenantCreated, TenantUpdated
from retinue.tenants.models import Tenant
from retinue.tenants.routes import routes

manifest = Manifest(
    name="tenants", records=(Tenant,), routes=(routes,), events=(TenantCreated, TenantUpdated)
)
