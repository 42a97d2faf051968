"""The vectors of a base in memory, for as long as the base is what it was when they were read.

The base's row counts its changes. A search compares that number with the one its vectors were read at, so a
change made by any process holds for the next search in every process. After a change only the documents that
are new are read; the rest is taken over.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from retinue.kit.context import Context
from retinue.knowledge.chunks import POSITION_BITS, Vectors, number_of
from retinue.knowledge.queries import SEARCHED, filled, vectors_statement
from retinue.knowledge.ranking import Rows

CACHE_BYTES = 512 * 1024 * 1024
# Above this many chunks a search is work for a thread; below it, handing it over would cost more.
LARGE = 5_000

_DOCUMENTS_AT_ONCE = 32
_CHUNKS_AT_ONCE = 2048
_BYTES_PER_DOCUMENT = 1024

Mask = npt.NDArray[np.bool_]
_read_metadata = msgspec.json.Decoder(dict[str, Any]).decode


class Searched(msgspec.Struct, frozen=True):
    """A document as far as a search must know it."""

    id: str
    revision: int
    name: str
    is_enabled: bool
    metadata: dict[str, Any]
    chunk_count: int


class Block(msgspec.Struct, frozen=True):
    """Consecutive chunks of a document as they are stored."""

    document_id: str
    first_number: int
    vectors: Vectors


class BaseIndex:
    """Every chunk that can be found in a base: its number, its document and its vector, row by row."""

    def __init__(
        self,
        generation: int,
        documents: Sequence[Searched],
        numbers: Rows,
        owners: npt.NDArray[np.int32],
        matrix: Vectors,
    ) -> None:
        """`owners` are places in `documents`."""
        self.generation = generation
        self.documents = documents
        self.numbers = numbers
        self.matrix = matrix
        self._owners = owners
        self._order = np.argsort(numbers, kind="stable")
        self._ordered = numbers[self._order]
        self._enabled = np.fromiter((one.is_enabled for one in documents), bool, len(documents))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size_bytes(self) -> int:
        return self.matrix.nbytes + 4 * self.numbers.nbytes + _BYTES_PER_DOCUMENT * len(self.documents)

    def rows_of(self, numbers: Sequence[int]) -> Rows:
        """The rows of chunks by their numbers; what is not searched here has none."""
        wanted = np.asarray(numbers, np.int64)
        if not len(self) or not len(wanted):
            return np.empty(0, np.int64)
        places = np.minimum(np.searchsorted(self._ordered, wanted), len(self) - 1)
        found: Rows = self._order[places[self._ordered[places] == wanted]]
        return found

    def allowed(self, filters: Mapping[str, Any]) -> Mask | None:
        """The rows a search may find, or None when it may find them all."""
        if not filters and self._enabled.all():
            return None
        wanted = self._enabled
        if filters:
            matching = (_matches(one, filters) for one in self.documents)
            wanted = wanted & np.fromiter(matching, bool, len(self.documents))
        return np.asarray(wanted[self._owners], dtype=bool)

    def followed_by(
        self, generation: int, documents: Sequence[Searched], blocks: Sequence[Block]
    ) -> "BaseIndex":
        """The index after a change: rows of documents that are still what they were, and the new blocks."""
        places = {one.id: place for place, one in enumerate(documents)}
        revisions = {one.id: one.revision for one in documents}
        moved = [places[one.id] if revisions.get(one.id) == one.revision else -1 for one in self.documents]
        owners = np.asarray(moved, np.int32)[self._owners] if moved else self._owners
        kept = owners >= 0
        numbers, new_owners, matrices = [self.numbers[kept]], [owners[kept]], [self.matrix[kept]]
        for block in blocks:
            if block.first_number >> POSITION_BITS == revisions.get(block.document_id):
                count = len(block.vectors)
                numbers.append(np.arange(block.first_number, block.first_number + count, dtype=np.int64))
                new_owners.append(np.full(count, places[block.document_id], np.int32))
                matrices.append(block.vectors)
        filled_in = [matrix for matrix in matrices if len(matrix)]
        matrix = np.concatenate(filled_in) if filled_in else self.matrix[:0]
        return BaseIndex(generation, documents, np.concatenate(numbers), np.concatenate(new_owners), matrix)


def empty_index() -> BaseIndex:
    nothing = np.empty(0, np.int64)
    return BaseIndex(-1, (), nothing, np.empty(0, np.int32), np.empty((0, 0), np.float32))


def _matches(document: Searched, filters: Mapping[str, Any]) -> bool:
    for name, value in filters.items():
        has = document.id if name == "document_id" else document.metadata.get(name)
        if has != value or isinstance(has, bool) != isinstance(value, bool):
            return False
    return True


class IndexCache:
    """The indexes of the bases that were searched last, up to so many bytes; the last is always kept."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._indexes: OrderedDict[tuple[str, str], BaseIndex] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    @classmethod
    def of(cls, ctx: Context) -> "IndexCache":
        """The one of this instance."""
        found: IndexCache = ctx.instance.adapters.setdefault(cls, cls())
        return found

    async def fetch(self, reader: Context, base_id: str, generation: int) -> BaseIndex:
        """The index of the base at this generation or a later one; whoever comes while it is read waits."""
        key = (reader.tenant_id, base_id)
        if (found := self._known(key, generation)) is not None:
            return found
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                if (found := self._known(key, generation)) is not None:
                    return found
                old = self._indexes.get(key) or empty_index()
                made = await _refreshed(reader, base_id, old, generation)
                self._keep(key, made)
                return made
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def _known(self, key: tuple[str, str], generation: int) -> BaseIndex | None:
        found = self._indexes.get(key)
        if found is None or found.generation < generation:
            return None
        self._indexes.move_to_end(key)
        return found

    def _keep(self, key: tuple[str, str], index: BaseIndex) -> None:
        self._indexes[key] = index
        self._indexes.move_to_end(key)
        used = sum(one.size_bytes for one in self._indexes.values())
        while used > self._most_bytes and len(self._indexes) > 1:
            _, dropped = self._indexes.popitem(last=False)
            used -= dropped.size_bytes


async def _refreshed(reader: Context, base_id: str, old: BaseIndex, seen: int) -> BaseIndex:
    rows = await reader.db.rows(SEARCHED, base_id=base_id)
    generation = rows[0][0] if rows else seen
    documents = [_searched(row) for row in rows]
    known = {(one.id, one.revision) for one in old.documents}
    missing = [one for one in documents if (one.id, one.revision) not in known]
    blocks = [block for part in _parts(missing) for block in await _blocks(reader, part)]
    if len(old) + sum(len(block.vectors) for block in blocks) < LARGE:
        return old.followed_by(generation, documents, blocks)
    return await asyncio.to_thread(old.followed_by, generation, documents, blocks)


def _searched(row: Sequence[Any]) -> Searched:
    _generation, id, revision, name, is_enabled, metadata, chunk_count = row
    return Searched(id, revision, name, bool(is_enabled), _read_metadata(metadata), chunk_count)


class _Part(msgspec.Struct, frozen=True):
    """What is read at once: small documents together, or some of a large one."""

    document_ids: list[str]
    first: int = 0
    last: int = 2**63 - 1


def _parts(documents: Sequence[Searched]) -> Iterator[_Part]:
    together: list[str] = []
    chunks = 0
    for one in documents:
        if one.chunk_count > _CHUNKS_AT_ONCE:
            for position in range(0, one.chunk_count, _CHUNKS_AT_ONCE):
                first = number_of(one.revision, position)
                yield _Part([one.id], first, first + _CHUNKS_AT_ONCE - 1)
            continue
        if together and (len(together) == _DOCUMENTS_AT_ONCE or chunks + one.chunk_count > _CHUNKS_AT_ONCE):
            yield _Part(together)
            together, chunks = [], 0
        together.append(one.id)
        chunks += one.chunk_count
    if together:
        yield _Part(together)


async def _blocks(reader: Context, part: _Part) -> list[Block]:
    given = filled("document", part.document_ids, _DOCUMENTS_AT_ONCE)
    rows = await reader.db.rows(
        vectors_statement(_DOCUMENTS_AT_ONCE), first=part.first, last=part.last, **given
    )
    return [
        Block(document_id, first_number, np.frombuffer(stored, "<f4").reshape(count, -1))
        for document_id, first_number, count, stored in rows
    ]
