"""The questions of `retinue doctor` to a database; nothing is written."""

import time

import msgspec

from retinue.kit.db.engine import Database

_SQLITE_FACTS = "SELECT sqlite_version(), (julianday('now') - 2440587.5) * 86400.0, 0, 0, ''"
_POSTGRES_FACTS = (
    "SELECT current_setting('server_version'),"
    " CAST(extract(epoch FROM clock_timestamp()) AS double precision),"
    " (SELECT count(*) FROM pg_stat_activity),"
    " CAST(current_setting('max_connections') AS integer),"
    " coalesce((SELECT CASE WHEN installed_version IS NULL THEN 'available' ELSE 'installed' END"
    " FROM pg_available_extensions WHERE name = 'vector'), '')"
)
_BROKEN_HEADS = (
    "SELECT h.id FROM audit_heads h LEFT JOIN audit_log a ON a.tenant_id = h.id AND a.sequence = h.sequence"
    " WHERE h.sequence > 0 AND (a.hash IS NULL OR a.hash <> h.hash) ORDER BY h.id"
)
_LATENCY_SAMPLES = 5


class DatabaseFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`now` is the database's clock as a Unix time; `pgvector` is empty, `available` or `installed`."""

    version: str
    now: float
    latency_ms: float
    connections: int
    max_connections: int
    pgvector: str


async def read_facts(database: Database) -> DatabaseFacts:
    latencies = []
    for _ in range(_LATENCY_SAMPLES):
        started = time.monotonic()
        await database.ping()
        latencies.append(time.monotonic() - started)
    sql = _SQLITE_FACTS if database.dialect == "sqlite" else _POSTGRES_FACTS
    version, now, connections, max_connections, pgvector = (await database.fetch(sql, []))[0]
    return DatabaseFacts(
        version=version,
        now=float(now),
        latency_ms=sorted(latencies)[_LATENCY_SAMPLES // 2] * 1000,
        connections=connections,
        max_connections=max_connections,
        pgvector=pgvector,
    )


async def count_undispatched_events(database: Database) -> int:
    found = await database.fetch("SELECT count(*) FROM event_log WHERE NOT is_dispatched", [])
    return int(found[0][0])


async def find_broken_audit_heads(database: Database) -> list[str]:
    """Return the tenants whose recorded head is not their last row; `retinue audit verify` reads all rows."""
    return [str(row[0]) for row in await database.fetch(_BROKEN_HEADS, [])]
