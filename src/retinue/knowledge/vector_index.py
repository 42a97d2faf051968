"""In-memory vectors of a base, valid for one generation of it (ADR 12).

The base's row counts its changes. A search compares that number with the generation of the cached vectors, so
a change made by any process applies to the next search in every process. After a change only new documents
are read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.knowledge.chunks import POSITION_BITS, Vectors, chunk_number
from retinue.knowledge.queries import SEARCHABLE_DOCUMENTS, padded_parameters, vectors_statement
from retinue.knowledge.ranking import Rows

MAX_CACHE_BYTES = 512 * 1024 * 1024
# Above this many chunks a search runs in a thread; below it, the handover would cost more.
THREADED_MIN_CHUNKS = 5_000

_DOCUMENTS_AT_ONCE = 32
_CHUNKS_AT_ONCE = 2048
_BYTES_PER_DOCUMENT = 1024

Mask = npt.NDArray[np.bool_]
_read_metadata = msgspec.json.Decoder(JsonObject).decode


class SearchableDocument(msgspec.Struct, frozen=True):
    """The fields of a document that a search needs."""

    id: str
    revision: int
    name: str
    is_enabled: bool
    metadata: JsonObject
    chunk_count: int


class VectorBlock(msgspec.Struct, frozen=True):
    """The stored vectors of consecutive chunks of a document."""

    document_id: str
    first_number: int
    vectors: Vectors


class VectorIndex:
    """All searchable chunks of a base, row by row: number, document and vector."""

    def __init__(
        self,
        generation: int,
        documents: Sequence[SearchableDocument],
        numbers: Rows,
        owners: npt.NDArray[np.int32],
        matrix: Vectors,
    ) -> None:
        """`owners` are positions in `documents`."""
        self.generation = generation
        self.documents = documents
        self.numbers = numbers
        self.matrix = matrix
        self._owners = owners
        self._order = np.argsort(numbers, kind="stable")
        self._ordered = numbers[self._order]
        self._enabled = np.fromiter((document.is_enabled for document in documents), bool, len(documents))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size_bytes(self) -> int:
        return self.matrix.nbytes + 4 * self.numbers.nbytes + _BYTES_PER_DOCUMENT * len(self.documents)

    def rows_for_numbers(self, numbers: Sequence[int]) -> Rows:
        """Return the rows of chunks by number; numbers that are not searchable are skipped."""
        wanted = np.asarray(numbers, np.int64)
        if not len(self) or not len(wanted):
            return np.empty(0, np.int64)
        places = np.minimum(np.searchsorted(self._ordered, wanted), len(self) - 1)
        rows: Rows = self._order[places[self._ordered[places] == wanted]]
        return rows

    def allowed(self, filters: Mapping[str, Any]) -> Mask | None:
        """Return a mask of the rows a search may return, or None for all."""
        if not filters and self._enabled.all():
            return None
        wanted = self._enabled
        if filters:
            matching = (_matches(document, filters) for document in self.documents)
            wanted = wanted & np.fromiter(matching, bool, len(self.documents))
        return np.asarray(wanted[self._owners], dtype=bool)

    def with_changes(
        self, generation: int, documents: Sequence[SearchableDocument], blocks: Sequence[VectorBlock]
    ) -> "VectorIndex":
        """Return the index after a change: rows of unchanged documents, and the new blocks."""
        places = {document.id: place for place, document in enumerate(documents)}
        revisions = {document.id: document.revision for document in documents}
        moved = [
            places[document.id] if revisions.get(document.id) == document.revision else -1
            for document in self.documents
        ]
        owners = np.asarray(moved, np.int32)[self._owners] if moved else self._owners
        kept = owners >= 0
        numbers, new_owners, matrices = [self.numbers[kept]], [owners[kept]], [self.matrix[kept]]
        for block in blocks:
            if block.first_number >> POSITION_BITS == revisions.get(block.document_id):
                count = len(block.vectors)
                numbers.append(np.arange(block.first_number, block.first_number + count, dtype=np.int64))
                new_owners.append(np.full(count, places[block.document_id], np.int32))
                matrices.append(block.vectors)
        matrix = _joined([matrix for matrix in matrices if len(matrix)] or [self.matrix[:0]])
        return VectorIndex(generation, documents, np.concatenate(numbers), np.concatenate(new_owners), matrix)


def _joined(matrices: Sequence[Vectors]) -> Vectors:
    """Join vectors; those of documents indexed without a model are similar to nothing, so they are zeros."""
    width = max(matrix.shape[1] for matrix in matrices)
    return np.concatenate(
        [matrix if matrix.shape[1] else np.zeros((len(matrix), width), np.float32) for matrix in matrices]
    )


def empty_index() -> VectorIndex:
    nothing = np.empty(0, np.int64)
    return VectorIndex(-1, (), nothing, np.empty(0, np.int32), np.empty((0, 0), np.float32))


def _matches(document: SearchableDocument, filters: Mapping[str, Any]) -> bool:
    for name, value in filters.items():
        actual = document.id if name == "document_id" else document.metadata.get(name)
        if actual != value or isinstance(actual, bool) != isinstance(value, bool):
            return False
    return True


class IndexCache:
    """Cache of the most recently searched indexes, limited in bytes; the latest is always kept."""

    def __init__(self, most_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = most_bytes
        self._indexes: OrderedDict[tuple[str, str], VectorIndex] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    @classmethod
    def of(cls, ctx: Context) -> "IndexCache":
        return ctx.state(cls)

    async def fetch(self, reader: Context, base_id: str, generation: int) -> VectorIndex:
        """Return the index at this generation or a later one; concurrent callers wait for one load."""
        key = (reader.tenant_id, base_id)
        if (index := self._find_current(key, generation)) is not None:
            return index
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                if (index := self._find_current(key, generation)) is not None:
                    return index
                old = self._indexes.get(key) or empty_index()
                refreshed = await _refresh(reader, base_id, old, generation)
                self._store(key, refreshed)
                return refreshed
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def _find_current(self, key: tuple[str, str], generation: int) -> VectorIndex | None:
        index = self._indexes.get(key)
        if index is None or index.generation < generation:
            return None
        self._indexes.move_to_end(key)
        return index

    def _store(self, key: tuple[str, str], index: VectorIndex) -> None:
        self._indexes[key] = index
        self._indexes.move_to_end(key)
        used = sum(cached.size_bytes for cached in self._indexes.values())
        while used > self._max_bytes and len(self._indexes) > 1:
            _, dropped = self._indexes.popitem(last=False)
            used -= dropped.size_bytes


async def _refresh(reader: Context, base_id: str, old: VectorIndex, seen: int) -> VectorIndex:
    rows = await reader.db.rows(SEARCHABLE_DOCUMENTS, base_id=base_id)
    generation = rows[0][0] if rows else seen
    documents = [_to_document(row) for row in rows]
    loaded = {(document.id, document.revision) for document in old.documents}
    missing = [document for document in documents if (document.id, document.revision) not in loaded]
    blocks = [block for part in _read_batches(missing) for block in await _blocks(reader, part)]
    if len(old) + sum(len(block.vectors) for block in blocks) < THREADED_MIN_CHUNKS:
        return old.with_changes(generation, documents, blocks)
    return await asyncio.to_thread(old.with_changes, generation, documents, blocks)


def _to_document(row: Sequence[Any]) -> SearchableDocument:
    _generation, id, revision, name, is_enabled, metadata, chunk_count = row
    return SearchableDocument(id, revision, name, bool(is_enabled), _read_metadata(metadata), chunk_count)


class _ReadBatch(msgspec.Struct, frozen=True):
    """One read: several small documents, or a part of a large one."""

    document_ids: list[str]
    first: int = 0
    last: int = 2**63 - 1


def _read_batches(documents: Sequence[SearchableDocument]) -> Iterator[_ReadBatch]:
    together: list[str] = []
    chunks = 0
    for document in documents:
        if document.chunk_count > _CHUNKS_AT_ONCE:
            for position in range(0, document.chunk_count, _CHUNKS_AT_ONCE):
                first = chunk_number(document.revision, position)
                yield _ReadBatch([document.id], first, first + _CHUNKS_AT_ONCE - 1)
            continue
        if together and (
            len(together) == _DOCUMENTS_AT_ONCE or chunks + document.chunk_count > _CHUNKS_AT_ONCE
        ):
            yield _ReadBatch(together)
            together, chunks = [], 0
        together.append(document.id)
        chunks += document.chunk_count
    if together:
        yield _ReadBatch(together)


async def _blocks(reader: Context, part: _ReadBatch) -> list[VectorBlock]:
    parameters = padded_parameters("document", part.document_ids, _DOCUMENTS_AT_ONCE)
    rows = await reader.db.rows(
        vectors_statement(_DOCUMENTS_AT_ONCE), first=part.first, last=part.last, **parameters
    )
    return [
        VectorBlock(document_id, first_number, np.frombuffer(stored, "<f4").reshape(count, -1))
        for document_id, first_number, count, stored in rows
    ]
