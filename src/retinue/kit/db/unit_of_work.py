"""A unit of work: the reads and changes of one request or job."""

import time
from typing import Any

from retinue.kit.db.config_versions import version_bumps
from retinue.kit.db.engine import Database, DatabaseConnection, StatementBatch, run_all
from retinue.kit.db.entity_tags import ExpectedVersion
from retinue.kit.db.models import Record
from retinue.kit.db.statements import CompiledStatement
from retinue.kit.db.write_batch import PendingWrite, build_batch
from retinue.kit.failpoints import failpoint
from retinue.kit.metrics import declarations as metrics
from retinue.kit.transaction_retry import retry_on_rollback


class UnitOfWork:
    """At most one transaction, opened by the first statement that needs it and ended once.

    With `reads_outside_transaction`, the transaction is opened by the first write.
    """

    def __init__(self, database: Database, *, reads_outside_transaction: bool) -> None:
        self.database = database
        self._reads_outside_transaction = reads_outside_transaction
        self._connection: DatabaseConnection | None = None
        self._writes: list[PendingWrite] = []
        self._shared_writes: list[tuple[str, PendingWrite]] = []
        self._stamped_tenants: set[str | None] = set()
        self.expected: dict[tuple[type[Record], str], ExpectedVersion] = {}
        self.has_read_beyond_configuration = False
        """Whether anything was read that can change without the tenant's stamp."""
        self._ended = False

    @property
    def reads_outside_transaction(self) -> bool:
        """Return whether the next read sees the latest committed data instead of the transaction's."""
        return self._reads_outside_transaction and self._connection is None

    @property
    def is_open(self) -> bool:
        return self._connection is not None

    @property
    def has_changes(self) -> bool:
        """Return whether a commit would have an effect."""
        return self._connection is not None or bool(self._writes or self._shared_writes)

    def expect(self, version: ExpectedVersion) -> None:
        """Raise `VersionConflict` if the record has another version when it is locked."""
        self.expected[version.record, version.id] = version

    async def begin(self) -> DatabaseConnection:
        """Return the transaction's connection; open the transaction if necessary."""
        if self._ended:
            raise RuntimeError("this unit of work has ended")
        if self._connection is None:
            self._connection = await self.database.begin()
        return self._connection

    async def _write_what_it_depends_on(self, compiled: CompiledStatement) -> None:
        """Run the deferred writes now if the statement could see them or refer to their rows."""
        if not self._writes or not self._has_writes_to(compiled.depends_on):
            return
        writes, self._writes = self._writes, []
        await run_all(await self.begin(), build_batch(writes, self.database.dialect))

    def _has_writes_to(self, tables: frozenset[str]) -> bool:
        if not tables:
            return True  # unknown
        return any(not write.compiled.tables or write.compiled.tables & tables for write in self._writes)

    async def fetch(self, compiled: CompiledStatement, arguments: list[Any], *, heavy: bool) -> list[Any]:
        if not compiled.reads_configuration_only:
            self.has_read_beyond_configuration = True
        await self._write_what_it_depends_on(compiled)
        if self.reads_outside_transaction:
            return await self.database.fetch(compiled.sql, arguments, heavy=heavy)
        connection = await self.begin()
        return await connection.fetch(compiled.sql, arguments)

    async def change(
        self, compiled: CompiledStatement, arguments: list[Any], tenant_id: str | None = None
    ) -> Any:
        """Change rows of a tenant, or of any tenant without `tenant_id`."""
        if compiled.raises_stamp:
            self._stamped_tenants.add(tenant_id)
        await self._write_what_it_depends_on(compiled)
        connection = await self.begin()
        if compiled.returns_rows:
            return await connection.fetch(compiled.sql, arguments)
        return await connection.execute(compiled.sql, arguments)

    async def change_many(
        self, compiled: CompiledStatement, many: list[list[Any]], tenant_id: str | None = None
    ) -> None:
        if compiled.raises_stamp:
            self._stamped_tenants.add(tenant_id)
        await self._write_what_it_depends_on(compiled)
        connection = await self.begin()
        await connection.execute_many(compiled.sql, many)

    def change_at_commit(
        self,
        compiled: CompiledStatement,
        arguments: list[Any],
        tenant_id: str | None = None,
        *,
        shared: str = "",
    ) -> None:
        """Defer a change to the commit, or to the first statement that depends on it; errors occur then.

        `shared` names a row that other units change too. Shared writes come last, ordered by name, so that
        two units never deadlock over them; no statement of the unit sees them.
        """
        if self._ended:
            raise RuntimeError("this unit of work has ended")
        if compiled.raises_stamp:
            self._stamped_tenants.add(tenant_id)
        write = PendingWrite(compiled, arguments)
        if shared:
            self._shared_writes.append((shared, write))
        else:
            self._writes.append(write)

    async def commit(self) -> bool:
        """Commit and return whether there was anything to commit."""
        if not self.has_changes:
            self._ended = True
            return False
        last = self._last_batch()
        is_timed = metrics.DATABASE_COMMIT_DURATION.is_on
        began = time.perf_counter() if is_timed else 0.0
        if self._connection is None:
            self._ended = True
            failpoint("before_commit")
            # ADR 22: the whole transaction is known, so it can be written again after a rollback.
            await retry_on_rollback(lambda: self.database.apply(last))
        else:
            connection = self._connection
            await run_all(connection, last)
            failpoint("before_commit")
            self._ended, self._connection = True, None
            await self.database.commit(connection)
        if is_timed:
            metrics.DATABASE_COMMIT_DURATION.observe(time.perf_counter() - began)
        failpoint("after_commit")
        return True

    def _last_batch(self) -> StatementBatch:
        writes = self._writes
        if self._shared_writes:
            in_order = sorted(self._shared_writes, key=lambda named: named[0])
            writes = [*writes, *(write for _, write in in_order)]
        if self._stamped_tenants:
            writes = [*writes, *version_bumps(self._stamped_tenants, self.database.dialect)]
        return build_batch(writes, self.database.dialect)

    async def rehearse_commit(self) -> None:
        """Write what a commit would write, so that its errors occur; the caller rolls back."""
        await run_all(await self.begin(), self._last_batch())

    async def rollback(self) -> None:
        self._ended = True
        self._writes.clear()
        self._shared_writes.clear()
        self._stamped_tenants.clear()
        connection, self._connection = self._connection, None
        if connection is not None:
            await self.database.rollback(connection)
