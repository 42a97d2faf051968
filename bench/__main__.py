"""`make bench`: CPU per request beside a bare application, jobs, start and memory, on both databases."""

import argparse
import asyncio
import os
import socket
import sys
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import uvloop
from rich.console import Console
from rich.table import Table

from bench import functions, jobs, requests, startup, streaming
from bench.figures import Figure

console = Console(width=110)


def databases() -> dict[str, str]:
    found = {"sqlite": ""}
    url = os.environ.get("RETINUE_TEST_DATABASE_URL", "")
    if not url:
        try:
            socket.create_connection(("127.0.0.1", 5432), 1).close()
            url = f"postgresql://{os.environ.get('USER', 'root') or 'root'}@127.0.0.1/test"
        except OSError:
            console.print("no PostgreSQL here: measured on SQLite only")
    if url:
        found["postgresql"] = url
    return found


async def empty_database(server: str) -> str:
    """A PostgreSQL database of our own, made anew; nothing for SQLite, which gets a new file each time."""
    if not server:
        return ""
    connection = await asyncpg.connect(server)
    await connection.execute("DROP DATABASE IF EXISTS retinue_bench WITH (FORCE)")
    await connection.execute("CREATE DATABASE retinue_bench")
    await connection.close()
    return urlunsplit(urlsplit(server)._replace(path="/retinue_bench"))


def verdict(value: float, goal: float, alarm: float) -> str:
    if value <= goal:
        return "goal met"
    return "over goal" if value <= alarm else "[bold]ALARM[/bold]"


async def show_requests(database: str, url: str, rounds: int) -> bool:
    table = Table(title=f"{database}: server CPU in microseconds, median of {rounds} rounds")
    for column in ("what", "ours", "bare", "ratio", "goal / alarm", ""):
        table.add_column(column, justify="left" if column in {"what", ""} else "right")
    went_well = True
    for scenario, ours, bare in await requests.compare(database, url, rounds):
        goal, alarm = scenario.goal[database], scenario.alarm[database]
        ratio = ours / bare
        went_well = went_well and ratio <= alarm
        table.add_row(
            scenario.name, f"{ours:.1f}", f"{bare:.1f}", f"{ratio:.2f}", f"{goal} / {alarm}",
            verdict(ratio, goal, alarm),
        )  # fmt: skip
    console.print(table)
    return went_well


async def show_others(database: str, url: str) -> bool:
    table = Table(title=f"{database}: jobs, start and memory")
    for column in ("what", "measured", "goal", ""):
        table.add_column(column)
    return _show(table, [*await jobs.measure(url), *startup.measure(url)])


async def show_outgoing() -> bool:
    table = Table(title="outgoing calls and functions")
    for column in ("what", "measured", "goal", ""):
        table.add_column(column)
    return _show(table, [*await streaming.measure(), *await functions.measure()])


def _show(table: Table, figures: list[Figure]) -> bool:
    went_well = True
    for figure in figures:
        is_good = figure.value <= figure.goal
        went_well = went_well and is_good
        table.add_row(
            figure.name, f"{figure.value:.3g} {figure.unit}", f"≤ {figure.goal:g} {figure.unit}",
            "goal met" if is_good else "[bold]over goal[/bold]",
        )  # fmt: skip
    console.print(table)
    return went_well


async def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…")
    parser.add_argument("--rounds", type=int, default=requests.ROUNDS)
    parser.add_argument("--only", choices=["requests", "others", "outgoing"])
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    options = parser.parse_args()
    went_well = True
    for database, server in databases().items():
        if options.database not in {None, database}:
            continue
        url = await empty_database(server)
        if options.only in {None, "requests"}:
            went_well = await show_requests(database, url, options.rounds) and went_well
        if options.only in {None, "others"}:
            went_well = await show_others(database, url) and went_well
    if options.only in {None, "outgoing"}:
        went_well = await show_outgoing() and went_well
    return 0 if went_well else 1


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.exit(runner.run(main()))
