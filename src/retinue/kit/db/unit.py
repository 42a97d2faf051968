"""A unit of work: what one request or one job reads and changes."""

from typing import Any

from retinue.kit.db.configuration import moves
from retinue.kit.db.engine import Connection, Database, run_all
from retinue.kit.db.merging import Write, batched
from retinue.kit.db.statements import Compiled
from retinue.kit.failpoints import failpoint


class Unit:
    """At most one transaction: opened by the first statement that needs it, ended once.

    A unit that only reads outside a transaction (`reads_freely`) opens one with its first write.
    """

    def __init__(self, database: Database, *, reads_freely: bool) -> None:
        self.database = database
        self._reads_freely = reads_freely
        self._connection: Connection | None = None
        self._writes: list[Write] = []
        self._shared_writes: list[tuple[str, Write]] = []
        self._configured: set[str | None] = set()
        self._ended = False

    @property
    def reads_freely(self) -> bool:
        """Whether what it reads next is simply the newest, and not what its transaction sees."""
        return self._reads_freely and self._connection is None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def has_changes(self) -> bool:
        """Whether a commit would have anything to do."""
        return self._connection is not None or bool(self._writes or self._shared_writes)

    async def begin(self) -> Connection:
        """The transaction, opened now if it is not open."""
        if self._ended:
            raise RuntimeError("this unit of work has ended")
        if self._connection is None:
            self._connection = await self.database.begin()
        return self._connection

    async def fetch(self, compiled: Compiled, arguments: list[Any], *, heavy: bool) -> list[Any]:
        if self.reads_freely:
            return await self.database.fetch(compiled.sql, arguments, heavy=heavy)
        connection = await self.begin()
        return await connection.fetch(compiled.sql, arguments)

    async def change(self, compiled: Compiled, arguments: list[Any], whose: str | None = None) -> Any:
        """Change rows of a tenant, or of any where `whose` is not said."""
        if compiled.configures:
            self._configured.add(whose)
        connection = await self.begin()
        if compiled.returns_rows:
            return await connection.fetch(compiled.sql, arguments)
        return await connection.execute(compiled.sql, arguments)

    async def change_many(self, compiled: Compiled, many: list[list[Any]], whose: str | None = None) -> None:
        if compiled.configures:
            self._configured.add(whose)
        connection = await self.begin()
        await connection.execute_many(compiled.sql, many)

    def change_at_commit(
        self, compiled: Compiled, arguments: list[Any], whose: str | None = None, *, shared: str = ""
    ) -> None:
        """Change something last of all: no statement of this unit sees it, and a failure is the commit's.

        `shared` names a row that others change too. Those come after all others, in the order of the names,
        so that two units which change several of them never wait for each other.
        """
        if self._ended:
            raise RuntimeError("this unit of work has ended")
        if compiled.configures:
            self._configured.add(whose)
        write = Write(compiled, arguments)
        if shared:
            self._shared_writes.append((shared, write))
        else:
            self._writes.append(write)

    async def commit(self) -> bool:
        """Whether anything was committed."""
        if not self.has_changes:
            self._ended = True
            return False
        writes = self._writes
        if self._shared_writes:
            in_order = sorted(self._shared_writes, key=lambda one: one[0])
            writes = [*writes, *(write for _, write in in_order)]
        if self._configured:
            writes = [*writes, *moves(self._configured, self.database.dialect)]
        last = batched(writes, self.database.dialect)
        if self._connection is None:
            self._ended = True
            failpoint("before_commit")
            await self.database.apply(last)
        else:
            connection = self._connection
            await run_all(connection, last)
            failpoint("before_commit")
            self._ended, self._connection = True, None
            await self.database.commit(connection)
        failpoint("after_commit")
        return True

    async def rollback(self) -> None:
        self._ended = True
        self._writes.clear()
        self._shared_writes.clear()
        self._configured.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            await self.database.rollback(connection)
