"""Recall on a corpus that is always the same, with the embedded model and everything else as it is used."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.adapters.embedded.weights import EMBEDDING_WEIGHTS
from retinue.adapters.embedded.weights_download import pull
from tests.conftest import ServiceMaker
from tests.factories.agents import make_agent
from tests.factories.knowledge import School
from tests.factories.people import People
from tests.knowledge.corpus import make

MODELS = Path(".cache/models").absolute()
FEW_PRODUCTS = 8
RECALL = 0.95
ELSEWHERE = (
    "Who won the world cup in 1998?",
    "Explain quantum entanglement.",
    "Who is the president of Brazil?",
    "How do I write a list comprehension in Python?",
)


def test_the_corpus_is_what_its_program_writes() -> None:
    stored = {path.name: path.read_text() for path in make.HERE.iterdir()}
    assert stored == make.files()
    assert sum(map(len, stored.values())) < 1_500_000
    assert len(make.sections()) >= 1000


def test_there_are_a_hundred_questions_and_no_two_sections_share_a_code() -> None:
    asked = make.questions()
    assert len({one["question"] for one in asked}) == 100
    assert {one["kind"] for one in asked} == {"code", "paraphrase"}
    codes = [
        make.draw_details(aspect, product)["code"]
        for product in make.SOURCE.products
        for aspect in make.SOURCE.aspects
        if aspect.code
    ]
    texts = "\n".join(make.sections().values())
    assert [code for code in codes if len(re.findall(rf"{re.escape(code)}\b", texts)) != 1] == []


async def train_agent(service: Any, names: list[str]) -> tuple[School, Any, Any]:
    people = People(service)
    person = await people.signed_in(Role.tenant_admin)
    school, agent = School(service, None), await make_agent(person)
    texts = [(name, (make.HERE / name).read_bytes()) for name in names]
    for start in range(0, len(texts), 20):
        documents = await school.teach(person, agent, *texts[start : start + 20])
        assert {one["status"] for one in documents} == {"indexed"}, documents
    return school, person, agent


async def list_missed(school: School, person: Any, agent: Any, asked: list[dict[str, str]]) -> list[str]:
    """The questions whose section is not among the first five."""
    lost = []
    for one in asked:
        found = await school.ask(person, agent, one["question"], top_k=5)
        places = [(hit["document_name"], hit["heading"].rpartition(" > ")[2]) for hit in found]
        if (one["file"], one["heading"]) not in places:
            lost.append(one["question"])
    return lost


async def check_recall(service: Any, names: list[str]) -> None:
    asked = json.loads((make.HERE / make.QUESTIONS).read_text())
    asked = [one for one in asked if one["file"] in names]
    school, person, agent = await train_agent(service, names)
    lost = await list_missed(school, person, agent, asked)
    assert 1 - len(lost) / len(asked) >= RECALL, (len(asked), lost)
    for question in ELSEWHERE:
        assert await school.ask(person, agent, question) == [], question


@pytest.fixture
async def embedding_service(make_service: ServiceMaker) -> Any:
    await asyncio.to_thread(pull, MODELS, (EMBEDDING_WEIGHTS,))
    return await make_service(embedding_model="", models_dir=MODELS)


async def test_recall_on_part_of_the_corpus(embedding_service: Any) -> None:
    names = [product.file for product in make.SOURCE.products[:FEW_PRODUCTS]]
    await check_recall(embedding_service, [*names, make.RULES])


@pytest.mark.slow
async def test_recall_on_the_whole_corpus(embedding_service: Any) -> None:
    names = [path.name for path in sorted(make.HERE.glob("*.md"))]
    await check_recall(embedding_service, names)
