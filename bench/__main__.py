"""`make bench`: CPU per request and chat beside a bare application, jobs, start and memory, per database."""

import argparse
import asyncio
import os
import socket
import sys
from statistics import median
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import uvloop
from rich.console import Console
from rich.table import Table

from bench import (
    chat,
    crowd,
    deliveries,
    event_log,
    forms,
    functions,
    jobs,
    outgoing,
    processes,
    requests,
    retrieval,
    startup,
    streaming,
    tables,
    traces,
    turn_counts,
    workflows,
)
from bench import (
    console as console_part,
)
from bench.figures import Figure, Ratio
from bench.peers import measuring
from bench.peers.installing import NotInstalled

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


# Of this run alone, so that two of them may measure at the same time.
_DATABASE = f"retinue_bench_{os.getpid()}"


async def empty_database(server: str) -> str:
    """A PostgreSQL database of our own, made anew; nothing for SQLite, which gets a new file each time."""
    if not server:
        return ""
    await drop_database(server)
    connection = await asyncpg.connect(server)
    await connection.execute(f"CREATE DATABASE {_DATABASE}")
    await connection.close()
    return urlunsplit(urlsplit(server)._replace(path=f"/{_DATABASE}"))


async def drop_database(server: str) -> None:
    if server:
        connection = await asyncpg.connect(server)
        await connection.execute(f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)")
        await connection.close()


def verdict(value: float, goal: float, alarm: float) -> str:
    if value <= goal:
        return "goal met"
    return "over goal" if value <= alarm else "[bold]ALARM[/bold]"


async def show_requests(database: str, url: str, rounds: int) -> bool:
    title = f"{database}: server CPU in microseconds, median of {rounds} rounds"
    return _show_ratios(title, await requests.compare(database, url, rounds))


async def show_chat(database: str, url: str, rounds: int, *, with_peers: bool) -> bool:
    async with chat.sides(url) as (ours, bare, provider):
        title = f"{database}: chat, server CPU in microseconds, median of {rounds} rounds"
        went_well = _show_ratios(title, await chat.compare(ours, bare, rounds))
        if with_peers:
            went_well = await show_peers(ours, bare, provider) and went_well
        table = Table(title=f"{database}: what else a chat takes")
        for column in ("what", "measured", "goal", ""):
            table.add_column(column)
        went_well = _show(table, await turn_counts.measure(url, provider, ours, rounds)) and went_well
        table = Table(title=f"{database}: a thousand streams on one process")
        for column in ("what", "measured", "goal", ""):
            table.add_column(column)
        return _show(table, await crowd.measure(ours, provider)) and went_well


async def show_peers(ours: chat.Side, bare: chat.Side, provider: str) -> bool:
    table = Table(title="the same chat elsewhere, server CPU in milliseconds")
    for column in ("what", "at once", "theirs", "ours", "bare", "as much as ours", "as bare", "goal", ""):
        table.add_column(column, justify="left" if column in {"what", ""} else "right")
    went_well = True
    for peer in measuring.PEERS:
        try:
            measured = await measuring.measure(peer, provider, ours, bare)
        except NotInstalled as reason:
            console.print(f"{peer.name} is not measured, because it cannot be installed here: {reason}")
            continue
        for one in measured:
            is_good = one.theirs >= measuring.GOAL_TIMES * one.ours
            went_well = went_well and is_good
            table.add_row(
                f"{peer.name}, {one.what}", str(one.at_once),
                *(f"{cost / 1000:.2f}" for cost in (one.theirs, one.ours, one.bare)),
                f"{one.theirs / one.ours:.1f}x", f"{one.theirs / one.bare:.1f}x",
                f"≥ {measuring.GOAL_TIMES}x", "goal met" if is_good else "[bold]below goal[/bold]",
            )  # fmt: skip
    if table.row_count:
        console.print(table)
    return went_well


async def show_others(database: str, server: str, url: str) -> bool:
    table = Table(title=f"{database}: jobs, start and memory")
    for column in ("what", "measured", "goal", ""):
        table.add_column(column)
    return _show(table, [*await jobs.measure(url), *startup.measure(await empty_database(server))])


# Each on a database of its own.
_APART = {
    "retrieval": ("knowledge", retrieval.measure),
    "deliveries": ("deliveries of webhooks", deliveries.measure),
    "tables": ("data tables", tables.measure),
    "workflows": ("workflows", workflows.measure),
    "forms": ("forms", forms.measure),
    "event_log": ("the event log", event_log.measure),
    "traces": ("traces", traces.measure),
    "console": ("the console of a large tenant", console_part.measure),
    "processes": ("several processes of one server", processes.measure),
}


async def show_apart(database: str, server: str, only: str | None) -> bool:
    went_well = True
    for name, (title, measure) in _APART.items():
        if only in {None, name}:
            table = Table(title=f"{database}: {title}")
            for column in ("what", "measured", "goal", ""):
                table.add_column(column)
            went_well = _show(table, await measure(await empty_database(server))) and went_well
    return went_well


async def show_outgoing() -> bool:
    table = Table(title="outgoing calls and functions")
    for column in ("what", "measured", "goal", ""):
        table.add_column(column)
    return _show(table, [*await outgoing.measure(), *await streaming.measure(), *await functions.measure()])


def _show_ratios(title: str, ratios: list[Ratio]) -> bool:
    table = Table(title=title)
    for column in ("what", "ours", "bare", "ratio", "95 % interval", "goal / alarm", ""):
        table.add_column(column, justify="left" if column in {"what", ""} else "right")
    for one in ratios:
        low, high = one.interval
        table.add_row(
            one.name, f"{median(one.ours_us):.1f}", f"{median(one.bare_us):.1f}", f"{one.median:.2f}",
            f"{low:.2f} to {high:.2f}", f"{one.goal} / {one.alarm}", verdict(one.median, one.goal, one.alarm),
        )  # fmt: skip
    console.print(table)
    return all(one.median <= one.alarm for one in ratios)


def _show(table: Table, figures: list[Figure]) -> bool:
    went_well = True
    for figure in figures:
        went_well = went_well and figure.is_good
        told = "goal met" if figure.is_good else "[bold]over goal[/bold]"
        table.add_row(
            figure.name,
            f"{figure.value:.3g} {figure.unit}",
            figure.limit,
            told if figure.limit else "",
        )
    console.print(table)
    return went_well


async def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…")
    parser.add_argument("--rounds", type=int, default=requests.ROUNDS)
    parser.add_argument(
        "--only",
        choices=[
            "requests",
            "chat",
            "others",
            "retrieval",
            "deliveries",
            "tables",
            "outgoing",
            "workflows",
            "forms",
            "event_log",
            "traces",
            "console",
            "processes",
        ],
    )
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    parser.add_argument("--without-peers", dest="with_peers", action="store_false")
    options = parser.parse_args()
    went_well = True
    for database, server in databases().items():
        if options.database not in {None, database}:
            continue
        try:
            went_well = await show_all(database, server, options) and went_well
        finally:
            await drop_database(server)
    if options.only in {None, "outgoing"}:
        went_well = await show_outgoing() and went_well
    return 0 if went_well else 1


async def show_all(database: str, server: str, options: argparse.Namespace) -> bool:
    """What is measured on each database."""
    url = await empty_database(server)
    went_well = True
    if options.only in {None, "requests"}:
        went_well = await show_requests(database, url, options.rounds)
    if options.only in {None, "chat"}:
        # The peers bring their own database, so they are measured once.
        with_peers = options.with_peers and (database == "sqlite" or options.database is not None)
        went_well = await show_chat(database, url, options.rounds, with_peers=with_peers) and went_well
    if options.only in {None, "others"}:
        went_well = await show_others(database, server, url) and went_well
    return await show_apart(database, server, options.only) and went_well


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        sys.exit(runner.run(main()))
