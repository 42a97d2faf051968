"""`database`: one validated statement on a PostgreSQL, MySQL or SQLite database."""

from collections.abc import Iterable
from typing import Any

from retinue.adapters import databases
from retinue.adapters.databases import (
    ConnectionSpec,
    DatabaseFailed,
    DbType,
    Query,
    QueryNotAllowed,
    find_db_type,
    tls_mode,
)
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.tools.config.shapes import DatabaseToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall

MAX_ROWS = 10_000

_ALIASES = {"read": ("select",), "write": ("insert", "update", "delete")}


async def run(call: ExecutorCall) -> Any:
    config = parse_run_config(call.config, DatabaseToolConfig)
    db_type = find_db_type(config.db_type)
    if db_type is None:
        raise ExecutionFailed("not_configured", "config.db_type must be postgresql, mysql or sqlite.")
    try:
        rows = await databases.run(
            call.ctx.adapter(Egress),
            _connection(call, config, db_type),
            _query(call.input, db_type, _allowed(config.allowed_operations)),
            timeout_s=call.timeout_s,
            max_rows=min(config.max_rows, MAX_ROWS),
        )
    except (QueryNotAllowed, DatabaseFailed, EgressRefused, EgressFailed) as error:
        raise ExecutionFailed(error.code, error.message) from None
    except EgressTimeout as error:
        raise ExecutionFailed("network_error", error.message) from None
    return {
        "rows": rows.rows,
        "row_count": rows.row_count,
        "columns": rows.columns,
        "truncated": rows.truncated,
    }


def _allowed(operations: Iterable[str]) -> set[str]:
    lowered = (operation.lower() for operation in operations)
    return {name for operation in lowered for name in _ALIASES.get(operation, (operation,))}


def _query(tool_input: JsonObject, db_type: DbType, allowed: set[str]) -> Query:
    """Return the written statement, or one built from a table name, conditions and values."""
    operation = tool_input.get("operation")
    if operation is not None and not isinstance(operation, str):
        raise Invalid({"input.operation": "must be select, insert, update or delete"})
    operation = operation and operation.lower()
    if tool_input.get("query") is None:
        if tool_input.get("table") is None:
            raise Invalid({"input.query": "is required unless table is given"})
        return databases.build(
            db_type=db_type,
            allowed=allowed,
            operation=operation or "select",
            table=tool_input["table"],
            where=tool_input.get("where"),
            values=tool_input.get("values"),
        )
    if not isinstance(tool_input["query"], str):
        raise Invalid({"input.query": "must be text"})
    return databases.check(
        tool_input["query"],
        tool_input.get("params"),
        db_type=db_type,
        allowed=allowed,
        operation=operation or None,
    )


def _connection(call: ExecutorCall, config: DatabaseToolConfig, db_type: DbType) -> ConnectionSpec:
    """Return the tool's own server or its credential's; host and port are never mixed from both."""
    secrets = call.authentication.secrets
    host, port = (config.host, config.port) if config.host else (secrets.get("host"), secrets.get("port"))
    return ConnectionSpec(
        db_type=db_type,
        host=str(host or ""),
        port=port if isinstance(port, int) else None,
        database=config.database or str(secrets.get("database") or ""),
        username=str(secrets.get("username") or ""),
        password=Secret(str(secrets.get("password") or "")),
        tls=tls_mode(ssl=config.ssl, ssl_mode=str(secrets.get("ssl_mode") or config.ssl_mode or "")),
        ca_certificates=str(secrets.get("ca_certificates") or ""),
        folder=call.ctx.settings.data_dir / "databases" / call.ctx.tenant_id,
        requester=call.ctx.requester,
    )
