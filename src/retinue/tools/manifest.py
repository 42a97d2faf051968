from retinue.files.service import REFERENCE as FILE
from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.tools.background import run_accepted_execution
from retinue.tools.events import ToolCreated, ToolDeleted, ToolUpdated
from retinue.tools.models import Tool, ToolExecution
from retinue.tools.packages import remove_packages, resolve_packages
from retinue.tools.queries import (
    find_tools_on_table,
    find_tools_with_script,
    find_users_of_credential,
    keep_table,
)
from retinue.tools.repeating import end_lost_execution
from retinue.tools.routes import ROUTES
from retinue.tools.service import detach_credential, detach_script

manifest = Manifest(
    name="tools",
    records=(Tool, ToolExecution),
    routes=ROUTES,
    events=(ToolCreated, ToolUpdated, ToolDeleted),
    jobs=(run_accepted_execution, end_lost_execution, resolve_packages, remove_packages),
    references=(
        Reference(to="credential", kind="tools", find=find_users_of_credential, detach=detach_credential),
        Reference(to=FILE, kind="tools", find=find_tools_with_script, detach=detach_script),
        Reference(to="data_table", kind="tools", find=find_tools_on_table, detach=keep_table),
    ),
)
