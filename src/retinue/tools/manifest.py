from retinue.files.service import REFERENCE as FILE
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.tools.config.shapes import CONFIG_SCHEMAS
from retinue.tools.events import ToolCreated, ToolDeleted, ToolDrifted, ToolTried, ToolUpdated
from retinue.tools.executors.access_tokens import TokenCache
from retinue.tools.jobs import JOBS
from retinue.tools.models import Tool, ToolExecution
from retinue.tools.queries import (
    find_tools_on_table,
    find_tools_with_script,
    find_users_of_credential,
    keep_table,
)
from retinue.tools.routes import ROUTES
from retinue.tools.service import detach_credential, detach_script

manifest = Manifest(
    name="tools",
    records=(Tool, ToolExecution),
    routes=ROUTES,
    events=(ToolCreated, ToolTried, ToolUpdated, ToolDeleted, ToolDrifted),
    jobs=JOBS,
    config_schemas=CONFIG_SCHEMAS,
    references=(
        Reference(to="credential", kind="tools", find=find_users_of_credential, detach=detach_credential),
        Reference(to=FILE, kind="tools", find=find_tools_with_script, detach=detach_script),
        Reference(to="data_table", kind="tools", find=find_tools_on_table, detach=keep_table),
    ),
    process_state=(ProcessState(TokenCache, lambda _: TokenCache()),),
    search_sources=(
        SearchSource(
            kind="tool",
            requires="tools:read",
            record=Tool,
            name=Tool.__table__.c.name,
            description=Tool.__table__.c.description,
        ),
    ),
)
