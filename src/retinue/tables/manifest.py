from retinue.kit.manifest import Manifest
from retinue.kit.references import Reference
from retinue.kit.tool_kinds import ToolKind
from retinue.tables.erasing import erase_rows
from retinue.tables.events import (
    ImportCompleted,
    RowCreated,
    RowDeleted,
    RowUpdated,
    TableCreated,
    TableDeleted,
    TableUpdated,
)
from retinue.tables.importing import run_import
from retinue.tables.jobs import resume_imports
from retinue.tables.models import DataTable, TableImport
from retinue.tables.routes import ROUTES
from retinue.tables.service import REFERENCE, find_referring_tables, keep_reference
from retinue.tables.tool_kind import run as run_tool

manifest = Manifest(
    name="tables",
    records=(DataTable, TableImport),
    routes=ROUTES,
    events=(
        TableCreated,
        TableUpdated,
        TableDeleted,
        RowCreated,
        RowUpdated,
        RowDeleted,
        ImportCompleted,
    ),
    jobs=(run_import, erase_rows, resume_imports),
    references=(
        Reference(to=REFERENCE, kind="data_tables", find=find_referring_tables, detach=keep_reference),
    ),
    tool_kinds=(ToolKind(name="data_table", run=run_tool),),
)
