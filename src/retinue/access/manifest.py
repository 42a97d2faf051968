from retinue.access.catalogue import CATALOGUE
from retinue.access.events import RolePermissionsChanged
from retinue.access.models import RolePermissions
from retinue.access.routes import routes
from retinue.kit.context.manifest import Manifest

manifest = Manifest(
    name="access",
    records=(RolePermissions,),
    routes=(routes,),
    events=(RolePermissionsChanged,),
    permissions=CATALOGUE,
)
