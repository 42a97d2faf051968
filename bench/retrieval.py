"""What a search of a knowledge base costs: with its own chunks, and with those of other tenants.

    python -m bench.retrieval [chunks]

The vector of the question is given: what it costs to make one is the model's affair.
"""

import statistics
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from bench.figures import KEY, Figure, tell
from retinue.adapters.documents import DocumentPiece
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.principal import SYSTEM
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.knowledge import service as knowledge
from retinue.knowledge.chunks import Vectors, new_revision, write_chunks
from retinue.knowledge.embedding import normalize
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.knowledge.retrieval import find_passages
from retinue.knowledge.vector_index import IndexCache
from retinue.tenants.models import Plan, Tenant
from retinue.wiring import close_instance, open_instance

CHUNKS = 100_000
DIMENSIONS = 384
PER_DOCUMENT = 2_000
BATCH = 64
QUERIES, ROUNDS = 40, 3
GOAL_MS = 25.0
WORDS, WORDS_PER_CHUNK = 30_000, 120


class Filled(msgspec.Struct):
    tenant_id: str
    base_id: str
    cpu_per_chunk_ms: float
    chunks_per_second: float


class Texts:
    """Chunks with words as common and as rare as those of a language, and vectors that point anywhere."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        frequency = 1 / np.arange(1, WORDS + 1)
        self._frequency = np.cumsum(frequency / frequency.sum())

    def words(self, count: int) -> list[str]:
        drawn = np.searchsorted(self._frequency, self._chance.random(count))
        return [f"word{number}" for number in drawn]

    def piece(self, position: int) -> DocumentPiece:
        return DocumentPiece(
            text=" ".join(self.words(WORDS_PER_CHUNK)), page=None, heading=None, position=position
        )

    def vectors(self, count: int) -> Vectors:
        return normalize(self._chance.standard_normal((count, DIMENSIONS), dtype=np.float32))


def context(instance: Instance, tenant_id: str, *, reads_outside_transaction: bool = False) -> Context:
    made = Context(
        instance,
        SYSTEM,
        Caller(correlation_id="cor_bench"),
        reads_outside_transaction=reads_outside_transaction,
    )
    if tenant_id:
        made.bind_tenant(tenant_id)
    return made


async def fill(instance: Instance, chunks: int, seed: int) -> Filled:
    """A tenant with one base of so many chunks, written as training writes them."""
    texts = Texts(seed)
    async with context(instance, "") as ctx:
        tenant = await ctx.system("bench").insert(Tenant(name=f"Bench {seed}", plan=Plan.enterprise))
    async with context(instance, tenant.id) as ctx:
        base = await knowledge.create_base(ctx)
        await ctx.db.update(base, dimensions=DIMENSIONS)
    cpu, wall = 0.0, 0.0
    for start in range(0, chunks, PER_DOCUMENT):
        spent = await _fill_document(instance, base, texts, min(PER_DOCUMENT, chunks - start))
        cpu, wall = cpu + spent[0], wall + spent[1]
    return Filled(tenant.id, base.id, cpu / chunks * 1000, chunks / wall)


async def _fill_document(
    instance: Instance, base: KnowledgeBase, texts: Texts, chunks: int
) -> tuple[float, float]:
    revision = new_revision()
    async with context(instance, base.tenant_id) as ctx:
        document = await ctx.db.insert(
            Document(
                base_id=base.id, name="b.txt", mime_type="text/plain", size_bytes=1, file_id="", metadata={}
            )
        )
    cpu, wall = 0.0, 0.0
    for first in range(0, chunks, BATCH):
        pieces = [texts.piece(position) for position in range(first, min(first + BATCH, chunks))]
        vectors = texts.vectors(len(pieces))
        started, cpu_started = time.perf_counter(), time.process_time()
        async with context(instance, base.tenant_id) as ctx:
            await write_chunks(ctx, document, revision, pieces, vectors)
        cpu, wall = cpu + time.process_time() - cpu_started, wall + time.perf_counter() - started
    async with context(instance, base.tenant_id) as ctx:
        held = await ctx.db.lock(KnowledgeBase, base.id)
        assert held is not None
        await ctx.db.update(held, generation=held.generation + 1)
        await ctx.db.update(document, revision=revision, status=DocumentStatus.indexed, chunk_count=chunks)
    return cpu, wall


async def query_ms(instance: Instance, filled: Filled) -> tuple[float, float]:
    """CPU of a search, the median of the quietest round; and of the first, which reads the vectors."""
    instance.adapters.pop(IndexCache, None)
    rounds = [await _round(instance, filled) for _ in range(ROUNDS)]
    return min(statistics.median(spent[1:]) for spent in rounds), rounds[0][0]


async def _round(instance: Instance, filled: Filled) -> list[float]:
    texts = Texts(7)
    spent = []
    for _ in range(QUERIES):
        # Two of eight words are among the most common ones, as in a question people ask.
        asked = " ".join([*texts.words(6), "word0", "word3"])
        vector = texts.vectors(1)[0]
        reader = context(instance, filled.tenant_id, reads_outside_transaction=True)
        started = time.process_time()
        await find_passages(reader, filled.base_id, asked, vector, top_k=5)
        spent.append((time.process_time() - started) * 1000)
    return spent


async def measure(url: str = "", chunks: int = CHUNKS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        key = Secret(KEY["RETINUE_MASTER_KEY"])
        settings = Settings(data_dir=Path(folder), database_url=url, worker="off", master_key=key)
        instance = await open_instance(settings)
        try:
            return await _figures(instance, chunks)
        finally:
            await close_instance(instance)


async def _figures(instance: Instance, chunks: int) -> list[Figure]:
    tenth = await fill(instance, chunks // 10, seed=1)
    tenth_ms, _ = await query_ms(instance, tenth)
    whole = await fill(instance, chunks, seed=2)
    whole_ms, first_ms = await query_ms(instance, whole)
    beside_ms, _ = await query_ms(instance, tenth)
    return [
        Figure(f"search of {chunks} chunks", whole_ms, "ms CPU", GOAL_MS),
        Figure(f"search of {chunks // 10} chunks", tenth_ms, "ms CPU", GOAL_MS),
        Figure("ten times the chunks", whole_ms / tenth_ms, "times the cost", 10),
        Figure(f"and {chunks} chunks of another tenant", beside_ms / tenth_ms, "times the cost", 1.1),
        Figure("first search, which reads the vectors", first_ms, "ms CPU", chunks / 50),
        Figure("writing a chunk, without its vector's making", whole.cpu_per_chunk_ms, "ms CPU", 2),
        Figure("seconds to write 1,000 chunks", 1000 / whole.chunks_per_second, "s", 4),
    ]


if __name__ == "__main__":
    tell(measure, CHUNKS)
