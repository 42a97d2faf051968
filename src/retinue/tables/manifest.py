from retinue.kit.context.manifest import Manifest
from retinue.kit.context.references import Reference
from retinue.kit.context.search_sources import SearchSource
from retinue.tables.events import (
    ImportCompleted,
    RowCreated,
    RowDeleted,
    RowRestored,
    RowsPutBack,
    RowUpdated,
    TableCreated,
    TableDeleted,
    TableUpdated,
)
from retinue.tables.jobs import JOBS
from retinue.tables.models import DataTable, TableImport
from retinue.tables.routes import ROUTES
from retinue.tables.service import REFERENCE, detach_reference, find_referring_tables
from retinue.tables.tool_kind import TOOL_KIND

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
        RowRestored,
        RowsPutBack,
        ImportCompleted,
    ),
    jobs=JOBS,
    references=(
        Reference(to=REFERENCE, kind="data_tables", find=find_referring_tables, detach=detach_reference),
    ),
    tool_kinds=(TOOL_KIND,),
    config_schemas=(TOOL_KIND.config_schema,),
    search_sources=(
        SearchSource(
            kind="data_table",
            requires="data_tables:read",
            record=DataTable,
            name=DataTable.__table__.c.name,
            description=DataTable.__table__.c.description,
        ),
    ),
)
