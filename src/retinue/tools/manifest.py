from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.tools.background import run_accepted_execution
from retinue.tools.events import ToolCreated, ToolDeleted, ToolUpdated
from retinue.tools.models import Tool, ToolExecution
from retinue.tools.packages import remove_packages, resolve_packages
from retinue.tools.queries import find_users_of_credential
from retinue.tools.routes import ROUTES
from retinue.tools.service import detach_credential

manifest = Manifest(
    name="tools",
    records=(Tool, ToolExecution),
    routes=ROUTES,
    events=(ToolCreated, ToolUpdated, ToolDeleted),
    jobs=(run_accepted_execution, resolve_packages, remove_packages),
    references=(
        Reference(to="credential", kind="tools", find=find_users_of_credential, detach=detach_credential),
    ),
)
