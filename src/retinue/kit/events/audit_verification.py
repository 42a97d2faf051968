"""Verification of a tenant's audit chain: detects changed, removed, added and reordered rows."""

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

_AFTER = Statement(
    sa.select(_entries)
    .where(
        _entries.c.tenant_id == sa.bindparam("tenant_id"),
        _entries.c.sequence > sa.bindparam("after", type_=sa.BigInteger()),
    )
    .order_by(_entries.c.sequence)
    .limit(_PAGE)
)


class ChainVerdict(msgspec.Struct, frozen=True):
    """The result of a verification, with the first invalid row (`row_id` is empty for a missing one)."""

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
    """The sequence number and hash of the last verified row, which the next row must continue."""

    def __init__(self) -> None:
        self.sequence = 0
        self.hash = ""

    def broken(self, reason: str, row: Any = None) -> ChainVerdict:
        return ChainVerdict(
            is_good=False,
            checked=self.sequence,
            sequence=self.sequence + 1 if row is None else row[_SEQUENCE],
            row_id="" if row is None else row[_ID],
            reason=reason,
        )

    def check(self, row: Any) -> ChainVerdict | None:
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
            return self.broken("the row does not continue the previous one", row)
        if chain_hash(entry) != entry.hash:
            return self.broken("the row was changed", row)
        self.sequence, self.hash = sequence, entry.hash
        return None


async def verify_chain(system: SystemDb, tenant_id: str) -> ChainVerdict:
    """Verify the chain from its first row to its head, page by page; it may grow meanwhile."""
    chain = _Chain()
    after, expected = _BEFORE_ALL, 0
    while True:
        page = await system.rows(_AFTER, tenant_id=tenant_id, after=after)
        for row in page:
            if verdict := chain.check(row):
                return verdict
        after = chain.sequence
        if page:
            continue
        if expected > chain.sequence:
            return chain.broken("the row is missing")
        # Read after the rows: a head behind them is invalid, a head ahead of them means more rows.
        head = await system.get(AuditHead, tenant_id) or AuditHead(id=tenant_id)
        if head.sequence <= chain.sequence:
            return await _compare(system, chain, head)
        expected = head.sequence


async def _compare(system: SystemDb, chain: _Chain, head: AuditHead) -> ChainVerdict:
    if head.sequence == chain.sequence and head.hash == chain.hash:
        return ChainVerdict(is_good=True, checked=chain.sequence)
    beyond = head.sequence if head.sequence < chain.sequence else chain.sequence - 1
    row: Any = await system.first(_AFTER, tenant_id=head.id, after=beyond)
    return chain.broken("the chain does not end at its recorded head", row)
