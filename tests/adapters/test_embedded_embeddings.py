"""Embeddings by the real model: alike texts are near, the same text is always the same vector."""

import math
from collections.abc import AsyncIterator

import pytest

from retinue.adapters.embedded.models import EMBEDDING_DIMENSIONS, EmbeddedModels
from retinue.adapters.llm import ModelError
from tests.factories.weights import fetch_weights

pytestmark = pytest.mark.slow

MODEL = "all-minilm-l6-v2"


@pytest.fixture(scope="module")
async def models() -> AsyncIterator[EmbeddedModels]:
    made = EmbeddedModels(fetch_weights())
    yield made
    await made.close()


def likeness(first: list[float], second: list[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


async def test_what_means_the_same_is_near(models) -> None:
    texts = ["How much is the fee?", "What does it cost?", "The cat sleeps on the sofa."]
    found = await models.embed(MODEL, texts)
    fee, cost, cat = found.vectors
    assert likeness(fee, cost) > 0.6
    assert likeness(fee, cat) < 0.2
    assert found.model == MODEL
    assert found.usage.prompt_tokens > 15


async def test_vectors_are_of_length_one(models) -> None:
    texts = [
        "a",
        "",
        " \n",
        "word " * 1000,
        "日本語のテキスト",
        "\x00\ud800".encode(errors="replace").decode(),
    ]
    for vector in (await models.embed(MODEL, texts)).vectors:
        assert len(vector) == EMBEDDING_DIMENSIONS
        assert math.isclose(math.hypot(*vector), 1, abs_tol=1e-5)


async def test_a_vector_depends_on_no_neighbour_and_no_run(models) -> None:
    text = "The pump is reset with the red button."
    (alone,) = (await models.embed(MODEL, [text])).vectors
    among = (await models.embed(MODEL, ["short", text, "word " * 300, *["x"] * 30])).vectors
    assert among[1] == alone
    assert len(among) == 33


async def test_what_is_beyond_256_tokens_is_not_read(models) -> None:
    long = "word " * 254
    found = await models.embed(MODEL, [long, long + "different end"])
    assert found.vectors[0] == found.vectors[1]
    assert found.usage.prompt_tokens == 2 * 256


async def test_no_texts_have_no_vectors(models) -> None:
    assert (await models.embed(MODEL, [])).vectors == []


async def test_another_number_of_dimensions_is_refused(models) -> None:
    assert (await models.embed(MODEL, ["a"], dimensions=EMBEDDING_DIMENSIONS)).vectors
    with pytest.raises(ModelError, match="384 dimensions only"):
        await models.embed(MODEL, ["a"], dimensions=256)
    with pytest.raises(ModelError, match="not a model for embedding"):
        await models.embed("smollm2-135m", ["a"])
