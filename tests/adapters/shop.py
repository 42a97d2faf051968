"""The data of the foreign databases: the same shop in each of them, and its fingerprint."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import aiomysql
import asyncpg

from tests.adapters.foreign_databases import ADMIN, FILE_READER, PASSWORD, PLAIN, Foreign

CUSTOMERS = [
    (
        1,
        "Ada",
        "ada@example.org",
        "120.50",
        "1815-12-10",
        "2024-01-31 10:00:00",
        {"color": "red", "sizes": [1, 2]},
        True,
    ),
    (
        2,
        "Bob",
        "bob@example.com",
        "-3.25",
        "1990-02-28",
        "2024-02-29 23:59:59",
        {"color": "blue", "sizes": [3]},
        False,
    ),
    (3, "100% Çelik", None, None, None, None, None, True),
]
ORDERS = [(1, 1, "19.99", "paid"), (2, 1, "30.00", "open"), (3, 2, "21.10", "paid")]

TABLES = """
CREATE TABLE customers (id {serial}, name VARCHAR(100), email VARCHAR(100), balance DECIMAL(10, 2), born DATE,
  joined {timestamp}, tags {json}, is_active {bool} DEFAULT {true}{more});
CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, total DECIMAL(10, 2), status VARCHAR(20));
CREATE TABLE notes (id INT);
"""
DIALECT = {
    "postgresql": {
        "serial": "SERIAL PRIMARY KEY",
        "timestamp": "TIMESTAMP",
        "json": "JSONB",
        "bool": "BOOLEAN",
    },
    "mysql": {
        "serial": "INT PRIMARY KEY AUTO_INCREMENT",
        "timestamp": "DATETIME",
        "json": "JSON",
        "bool": "BOOLEAN",
    },
    "sqlite": {
        "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "timestamp": "TEXT",
        "json": "TEXT",
        "bool": "INT",
    },
}


def statements(db_type: str) -> list[str]:
    more = ", FULLTEXT (name)" if db_type == "mysql" else ""
    true = "1" if db_type == "sqlite" else "TRUE"
    tables = TABLES.format(**DIALECT[db_type], more=more, true=true)
    rows = [_insert("customers", row) for row in CUSTOMERS] + [_insert("orders", row) for row in ORDERS]
    return [*(part.strip() for part in tables.split(";") if part.strip()), *rows]


def _insert(table: str, row: tuple[Any, ...]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join(_literal(value) for value in row)})"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value)) if not isinstance(value, bool) else str(value).upper()
    text = json.dumps(value) if isinstance(value, dict) else str(value)
    return "'" + text.replace("'", "''") + "'"


async def connect_postgresql(
    server: Foreign, database: str = "shop", user: str = ADMIN
) -> asyncpg.Connection:
    connection = await asyncpg.connect(
        host="127.0.0.1", port=server.port, user=user, password=PASSWORD, database=database, ssl=False
    )
    for kind in ("json", "jsonb"):
        await connection.set_type_codec(kind, schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    return connection


async def connect_mysql(server: Foreign, user: str = ADMIN) -> aiomysql.Connection:
    return await aiomysql.connect(
        host="127.0.0.1",
        port=server.port,
        user=user,
        password=PASSWORD.encode().decode("latin-1"),
        db="shop",
        charset="utf8mb4",
        autocommit=True,
    )


# What a shop's own programmers may have left there.
REFUND = """
CREATE FUNCTION refund(customers) RETURNS int LANGUAGE sql AS 'INSERT INTO notes VALUES (7) RETURNING id'
"""


async def open_postgresql_shop(server: Foreign) -> None:
    boss = await connect_postgresql(server, "postgres")
    for name in (PLAIN, FILE_READER):
        await boss.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
    await boss.execute(f"GRANT pg_read_server_files TO {FILE_READER}")
    await boss.execute(f"CREATE DATABASE shop OWNER {PLAIN}")
    await boss.close()
    plain = await connect_postgresql(server, user=PLAIN)
    for statement in (*statements("postgresql"), REFUND):
        await plain.execute(statement)
    await plain.close()


async def open_mysql_shop(server: Foreign) -> None:
    boss = await connect_mysql(server)
    cursor = await boss.cursor()
    for statement in (
        *statements("mysql"),
        "CREATE TABLE other.things (note VARCHAR(20))",
        "INSERT INTO other.things VALUES ('elsewhere')",
    ):
        await cursor.execute(statement)
    await cursor.close()
    boss.close()


def open_sqlite_shop(folder: Path) -> None:
    connection = sqlite3.connect(folder / "shop.db")
    connection.executescript(";".join(statements("sqlite")))
    connection.close()


POSTGRESQL_TRACES = (
    "SELECT * FROM customers ORDER BY id",
    "SELECT * FROM orders ORDER BY id",
    "SELECT * FROM notes",
    "SELECT oid, relname, relacl::text, relnatts FROM pg_class WHERE oid > 16384 ORDER BY oid",
    "SELECT last_value, is_called FROM customers_id_seq",
    "SELECT oid, proname FROM pg_proc WHERE oid > 16384 ORDER BY oid",
    "SELECT oid FROM pg_largeobject_metadata",
    "SELECT oid, rolname, rolsuper, rolpassword FROM pg_authid ORDER BY oid",
    "SELECT extname FROM pg_extension ORDER BY 1",
    "SELECT setrole::text, setconfig::text FROM pg_db_role_setting",
)
MYSQL_TRACES = (
    "SELECT * FROM shop.customers ORDER BY id",
    "SELECT * FROM shop.orders ORDER BY id",
    "SELECT * FROM shop.notes",
    "SELECT table_schema, table_name, column_name FROM information_schema.columns ORDER BY 1, 2, 3",
    "SELECT user, host, priv FROM mysql.global_priv ORDER BY 1, 2",
    "SELECT event_name FROM information_schema.events",
    "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = 'shop'",
    "SELECT routine_name FROM information_schema.routines WHERE routine_schema = 'shop'",
    "SELECT @@global.local_infile, @@global.sql_mode, @@global.read_only",
    "SELECT plugin_name FROM information_schema.plugins ORDER BY 1",
)


async def fingerprint(shop: Foreign) -> str:
    """A hash of everything a statement could have changed: rows, tables, rights, routines, files."""
    seen: list[Any] = [
        sorted(path.name for path in shop.folder.iterdir() if not path.name.startswith("shop.db-"))
    ]
    if shop.db_type == "sqlite":
        seen.append((shop.folder / "shop.db").read_bytes())
    elif shop.db_type == "postgresql":
        boss = await connect_postgresql(shop)
        seen += [[tuple(row) for row in await boss.fetch(sql)] for sql in POSTGRESQL_TRACES]
        await boss.close()
    else:
        boss = await connect_mysql(shop)
        cursor = await boss.cursor()
        for sql in MYSQL_TRACES:
            await cursor.execute(sql)
            seen.append(await cursor.fetchall())
        await cursor.close()
        boss.close()
    return hashlib.sha256(repr(seen).encode()).hexdigest()
