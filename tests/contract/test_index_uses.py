"""Every index that a chat pays for serves a statement, on both databases.

SQLite plans without statistics and takes every table to have a million rows, so an empty one will do. On
PostgreSQL the tables are filled: with enough rows that an index pays, or with a million (`make campaign`).
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa

from retinue.kit.db.sqlite import connect
from retinue.kit.db.types import Json
from tests.contract.index_uses import TABLES, TENANT, Use, declared, uses
from tests.databases import SERVER, Databases

ROWS, MANY_ROWS = 30_000, 1_000_000
_NAMES = {table.name for table in TABLES}

# Two rows of a table belong together: they have a tenant, an agent and a conversation in common.
_FORM = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_AT = f"to_char(timestamp '2026-11-18 13:00' - ({{rows}} - n) * interval '20 s', '{_FORM}')"
_FILLED = {
    "created_at": _AT,
    "updated_at": _AT,
    "last_message_at": _AT,
    "last_message_hour": f"substr({_AT}, 1, 13)",
    "hour": f"substr({_AT}, 1, 13)",
    "tenant_id": "'ten_' || lpad((n / 2 % 10)::text, 7, '0')",
    "agent_id": "'agt_' || lpad((n / 20 % 20)::text, 7, '0')",
    "user_id": "'usr_' || lpad((n / 20 % 200)::text, 7, '0')",
    "conversation_id": "'conv_' || lpad((n / 2)::text, 7, '0')",
    "position": "n % 2 + 1",
    "reply_id": "CASE WHEN n % 2 = 0 THEN 'msg_' || lpad(n::text, 7, '0') END",
    "rating": "CASE WHEN n % 1000 = 0 THEN 1 ELSE 0 END",
    "is_dispatched": "n < {rows} - 20",
    "is_new": "n > {rows} - 100",
    "correlation_id": "'cor_' || lpad((n / 3)::text, 7, '0')",
    "type": "(ARRAY['agent.chat.message', 'agent.chat.started', 'agent.created'])[1 + (n % 10 + 2) / 6]",
    "category": "(ARRAY['agent', 'workflow', 'system'])[1 + (n % 10) / 4]",
    "title": "'Where is parcel ' || n",
    "trace_ns": "CASE WHEN n % 4 > 0 THEN n % 100 * 1000000 END",
}
_BY_TYPE = {sa.Boolean: "false", sa.BigInteger: "0", sa.Double: "0", Json: "'{}'"}


def filling(table: sa.Table, rows: int) -> str:
    columns = {column.name: _value(column) for column in table.columns}
    columns["id"] = f"'{'conv' if table.name == 'conversations' else 'row'}_' || lpad(n::text, 7, '0')"
    if table.name == "conversations":
        columns["status"] = "CASE WHEN n > {rows} - 300 THEN 'active' ELSE 'closed' END"
    values = ", ".join(columns.values()).replace("{rows}", str(rows))
    return (
        f'INSERT INTO "{table.name}" ({", ".join(columns)}) SELECT {values} FROM generate_series(1, {rows}) n'
    )


def _value(column: sa.Column[Any]) -> str:
    if column.name in _FILLED:
        return _FILLED[column.name]
    if column.nullable:
        return "NULL"
    return next((value for kind, value in _BY_TYPE.items() if isinstance(column.type, kind)), "''")


def explained(use: Use, dialect: str) -> tuple[str, list[Any]]:
    compiled = use.statement.compiled(dialect, narrow=not use.is_system)
    return compiled.sql, compiled.arguments({**use.parameters, "fence_tenant": TENANT})


def problems_on_sqlite(connection: sqlite3.Connection, index: str, use: Use) -> list[str]:
    """Return the steps of the plan if it reads a whole table, or uses another index."""
    sql, arguments = explained(use, "sqlite")
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", arguments)]
    name = f"USING INDEX {_automatic(connection, index)} "
    is_used = any(
        name.replace(" INDEX", kind) in f"{step} " for step in steps for kind in (" INDEX", " COVERING INDEX")
    )
    # In the order of a partial index, SQLite speaks of a scan of it.
    scanned = [
        step for step in steps if step.startswith("SCAN") and step.split()[1] in _NAMES and index not in step
    ]
    return [] if is_used and not scanned else steps


def _automatic(connection: sqlite3.Connection, index: str) -> str:
    """Return SQLite's name of the index of a unique constraint."""
    if not index.startswith("uq_"):
        return index
    table = next(name for name in _NAMES if index.startswith(f"uq_{name}_"))
    for _, name, _, origin, _ in connection.execute(f"PRAGMA index_list({table})"):
        columns = [row[2] for row in connection.execute(f"PRAGMA index_info({name})")]
        if origin == "u" and index == f"uq_{table}_{'_'.join(columns)}":
            return str(name)
    raise AssertionError(index)


async def problems_on_postgres(connection: asyncpg.Connection, index: str, use: Use) -> list[str]:
    sql, arguments = explained(use, "postgresql")
    found = json.loads(await connection.fetchval(f"EXPLAIN (FORMAT JSON) {sql}", *arguments))
    nodes = list(_nodes(found[0]["Plan"]))
    is_used = any(node.get("Index Name") == index for node in nodes)
    scanned = [node for node in nodes if node["Node Type"] == "Seq Scan" and node["Relation Name"] in _NAMES]
    return (
        [] if is_used and not scanned else [str(node.get("Index Name", node["Node Type"])) for node in nodes]
    )


def _nodes(plan: dict[str, Any]) -> Any:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


@pytest.mark.either_database
def test_every_index_names_a_statement() -> None:
    assert declared() == set(uses("sqlite"))


@pytest.mark.skipif(bool(SERVER), reason="explains on SQLite")
async def test_every_index_serves_its_statements_on_sqlite(databases: Databases, tmp_path: Path) -> None:
    await databases.fresh(tmp_path)
    connection = connect(tmp_path / "retinue.db")
    wrong = {
        (index, number): problems
        for index, wanting in uses("sqlite").items()
        for number, use in enumerate(wanting)
        if (problems := problems_on_sqlite(connection, index, use))
    }
    connection.close()
    assert wrong == {}


@pytest.mark.skipif(not SERVER, reason="explains on PostgreSQL")
@pytest.mark.parametrize("rows", [ROWS, pytest.param(MANY_ROWS, marks=pytest.mark.campaign)])
async def test_every_index_serves_its_statements_on_postgres(
    databases: Databases, tmp_path: Path, rows: int
) -> None:
    connection = await asyncpg.connect(await databases.fresh(tmp_path))
    work = connection.transaction()
    await work.start()
    try:
        # Foreign keys are not looked up: the rows they name are not there.
        await connection.execute("SET LOCAL session_replication_role = replica")
        for table in TABLES:
            await connection.execute(filling(table, rows))
            await connection.execute(f'ANALYZE "{table.name}"')
        # As a vacuum leaves them, which cannot run in a transaction.
        await connection.execute(
            "UPDATE pg_class SET relallvisible = relpages WHERE relname = ANY($1)", list(_NAMES)
        )
        wrong = {
            (index, number): problems
            for index, wanting in uses("postgresql").items()
            for number, use in enumerate(wanting)
            if (problems := await problems_on_postgres(connection, index, use))
        }
    finally:
        await work.rollback()
        await connection.close()
    assert wrong == {}
