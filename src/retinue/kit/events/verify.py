"""Checking a tenant's audit chain: whoever changed, removed, added or reordered rows is found out."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement, row_reader
from retinue.kit.events.log import chain_hash
from retinue.kit.events.models import AuditEntry, AuditHead

_PAGE = 500
_BEFORE_ALL = -(2**63)
_entries = AuditEntry.__table__
_read = row_reader(AuditEntry)
_SEQUENCE = AuditEntry.__struct_fields__.index("sequence")
_ID = AuditEntry.__struct_fields__.index("id")

_AFTER: Statement[Any] = Statement(
    sa.select(_entries)
    .where(
        _entries.c.tenant_id == sa.bindparam("tenant_id"),
        _entries.c.sequence > sa.bindparam("after", type_=sa.BigInteger()),
    )
    .order_by(_entries.c.sequence)
    .limit(_PAGE)
)


class Verdict(msgspec.Struct, frozen=True):
    """Whether the chain holds; if not, the first row that is wrong (`row_id` is empty for a missing one)."""

    is_good: bool
    checked: int
    sequence: int = 0
    row_id: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.is_good:
            return f"intact, {self.checked} rows"
        return f"broken at row {self.sequence} {self.row_id}: {self.reason}"


class _Chain:
    """What has been checked so far: the place and the hash that the next row must continue."""

    def __init__(self) -> None:
        self.sequence = 0
        self.hash = ""

    def broken(self, reason: str, row: Any = None) -> Verdict:
        return Verdict(
            is_good=False,
            checked=self.sequence,
            sequence=self.sequence + 1 if row is None else row[_SEQUENCE],
            row_id="" if row is None else row[_ID],
            reason=reason,
        )

    def check(self, row: Any) -> Verdict | None:
        sequence = row[_SEQUENCE]
        if sequence > self.sequence + 1:
            return self.broken("the row is missing")
        if sequence <= self.sequence:
            return self.broken("the row does not belong to the chain", row)
        try:
            entry = _read(row)
        except msgspec.MsgspecError:
            return self.broken("the row was changed", row)
        if entry.previous_hash != self.hash:
            return self.broken("the row does not continue the one before", row)
        if chain_hash(entry) != entry.hash:
            return self.broken("the row was changed", row)
        self.sequence, self.hash = sequence, entry.hash
        return None


async def verify_chain(system: SystemDb, tenant_id: str) -> Verdict:
    """Walk the chain from its first row to its head, a page at a time, while it may grow."""
    chain = _Chain()
    after, promised = _BEFORE_ALL, 0
    while True:
        page = await system.rows(_AFTER, tenant_id=tenant_id, after=after)
        for row in page:
            if wrong := chain.check(row):
                return wrong
        after = chain.sequence
        if page:
            continue
        if promised > chain.sequence:
            return chain.broken("the row is missing")
        # Read after the rows: a head that is behind them is wrong, one that is ahead promises more rows.
        head = await system.get(AuditHead, tenant_id) or AuditHead(id=tenant_id)
        if head.sequence <= chain.sequence:
            return await _compare(system, chain, head)
        promised = head.sequence


async def _compare(system: SystemDb, chain: _Chain, head: AuditHead) -> Verdict:
    if head.sequence == chain.sequence and head.hash == chain.hash:
        return Verdict(is_good=True, checked=chain.sequence)
    beyond = head.sequence if head.sequence < chain.sequence else chain.sequence - 1
    row: Any = await system.first(_AFTER, tenant_id=head.id, after=beyond)
    return chain.broken("the chain does not end where it was recorded to end", row)
