"""Writers on SQLite: alone they are served at once, together they share transactions, none is forgotten."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from retinue.kit.db import sqlite
from retinue.kit.db.sqlite import SqliteDatabase


@pytest.fixture
async def database(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "notes.db")
    await database.open()
    await database.apply([("CREATE TABLE notes (text TEXT)", [[]])])
    yield database
    await database.close()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    counted: list[None] = []
    commit = sqlite._commit

    def count(writer: sqlite3.Connection) -> None:
        counted.append(None)
        commit(writer)

    monkeypatch.setattr(sqlite, "_commit", count)
    return counted


async def note(database: SqliteDatabase, text: str, after_s: float = 0) -> None:
    await asyncio.sleep(after_s)
    await database.apply([("INSERT INTO notes VALUES (?)", [[text]])])


async def notes(database: SqliteDatabase) -> list[str]:
    return [text for (text,) in await database.fetch("SELECT text FROM notes ORDER BY text", [])]


async def test_a_lone_writer_waits_for_nobody(database, monkeypatch, commits):
    monkeypatch.setattr(sqlite, "_GROUP_COMMIT_WINDOW_SECONDS", 60)
    async with asyncio.timeout(10):
        for text in "abc":
            await note(database, text)
    assert (await notes(database), len(commits)) == (["a", "b", "c"], 3)


async def test_after_two_at_once_the_next_ones_share_a_transaction(database, monkeypatch, commits):
    monkeypatch.setattr(sqlite, "_GROUP_COMMIT_WINDOW_SECONDS", 0.3)
    async with asyncio.timeout(10):
        await asyncio.gather(note(database, "a"), note(database, "b"))
        await asyncio.gather(*(note(database, text, after_s=at / 100) for at, text in enumerate("cdef")))
    assert (await notes(database), len(commits)) == (["a", "b", "c", "d", "e", "f"], 2)


async def test_one_who_is_left_alone_waits_once(database, monkeypatch, commits):
    monkeypatch.setattr(sqlite, "_GROUP_COMMIT_WINDOW_SECONDS", 0.3)
    await asyncio.gather(note(database, "a"), note(database, "b"))
    began = asyncio.get_running_loop().time()
    await note(database, "c")
    waited_s = asyncio.get_running_loop().time() - began
    monkeypatch.setattr(sqlite, "_GROUP_COMMIT_WINDOW_SECONDS", 60)
    async with asyncio.timeout(10):
        await note(database, "d")
    assert (await notes(database), len(commits)) == (["a", "b", "c", "d"], 3)
    assert waited_s > 0.2


async def test_a_commit_nobody_waits_for_any_more_is_made_and_leaves_the_writer_free(database):
    connection = await database.begin()
    await connection.execute("INSERT INTO notes VALUES (?)", ["left"])
    committing = asyncio.create_task(database.commit(connection))
    await asyncio.sleep(0)
    committing.cancel()
    async with asyncio.timeout(10):
        await note(database, "next")
    assert await notes(database) == ["left", "next"]


async def test_a_commit_that_fails_is_told_and_leaves_the_writer_free(database, monkeypatch):
    def fail(writer: sqlite3.Connection) -> None:
        writer.execute("ROLLBACK")
        raise sqlite.DatabaseUnavailable

    with monkeypatch.context() as failing:
        failing.setattr(sqlite, "_commit", fail)
        with pytest.raises(sqlite.DatabaseUnavailable):
            await note(database, "lost")
    async with asyncio.timeout(10):
        await note(database, "kept")
    assert await notes(database) == ["kept"]


async def test_closing_waits_for_what_is_being_committed(tmp_path):
    database = SqliteDatabase(tmp_path / "notes.db")
    await database.open()
    await database.apply([("CREATE TABLE notes (text TEXT)", [[]])])
    writing = asyncio.create_task(note(database, "last"))
    await asyncio.sleep(0.001)
    await asyncio.gather(database.close(), writing, return_exceptions=True)
    with sqlite3.connect(tmp_path / "notes.db") as looked:
        kept = looked.execute("SELECT text FROM notes").fetchall()
    assert kept == ([("last",)] if writing.exception() is None else [])


async def test_only_the_commits_of_other_connections_are_a_change(database: SqliteDatabase, tmp_path: Path):
    await database.wait_for_change(0)
    await note(database, "own")
    assert not await database.wait_for_change(0)
    other = SqliteDatabase(tmp_path / "notes.db")
    await other.open()
    await note(other, "theirs")
    await other.close()
    assert await database.wait_for_change(0)
    assert not await database.wait_for_change(0)


async def test_who_looks_for_changes_waits_for_the_writer_whose_turn_it_is(database: SqliteDatabase):
    writer = await database.begin()
    looking = asyncio.create_task(database.wait_for_change(0))
    await asyncio.sleep(0)
    assert not looking.done()
    await database.commit(writer)
    await looking
