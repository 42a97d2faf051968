"""The built-in chat model and an agent's documents: the sentences that answer are quoted, none is made up."""

import asyncio
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.adapters.embedded.weights import EMBEDDING_WEIGHTS
from retinue.adapters.embedded.weights_download import pull
from tests.adapters.document_files import pdf
from tests.chat.speaking import messages_of, path_of, reply_to, stream, text_of
from tests.client import Api
from tests.conftest import ServiceMaker
from tests.embed.keys import Holder, make_key
from tests.factories.agents import make_agent
from tests.factories.knowledge import School
from tests.factories.people import People
from tests.factories.providers import add_key_for

pytestmark = pytest.mark.either_database

HERE = Path(__file__).parent / "quotable"
MODELS = Path(".cache/models").absolute()
QUESTIONS: dict[str, list[dict[str, str]]] = tomllib.loads((HERE / "questions.toml").read_text())
DEMO = "local/smollm2-135m"
REFUSALS = ("The documents do not answer this question.", "Die Dokumente beantworten diese Frage nicht.")
LINES_OF_A_PAGE = 45


def pages(text: str) -> list[list[str]]:
    lines = [line for paragraph in text.splitlines() for line in textwrap.wrap(paragraph, 95) or [""]]
    return [lines[start : start + LINES_OF_A_PAGE] for start in range(0, len(lines), LINES_OF_A_PAGE)]


def sample(name: str) -> tuple[str, bytes]:
    if name == "travel-policy.pdf":
        return name, pdf(*pages((HERE / "travel-policy.txt").read_text()))
    return name, (HERE / name).read_bytes()


SAMPLES = ("travel-policy.pdf", "stashbox.md", "workshop-prices.csv")


class Reader:
    """A person with an agent for the three samples, and one for each other document."""

    def __init__(self, service: Any, person: Api) -> None:
        self.service = service
        self.person = person
        self._agents: dict[str, dict[str, Any]] = {}

    async def agent(self, document: str = "", **more: Any) -> dict[str, Any]:
        if document not in self._agents or more:
            agent = await make_agent(self.person, **{"primary_model": DEMO, **more})
            names = (document,) if document else SAMPLES
            documents = await School(self.service, None).teach(self.person, agent, *map(sample, names))
            assert {one["status"] for one in documents} == {"indexed"}, documents
            self._agents[document] = agent
        return self._agents[document]

    async def ask(self, question: str, document: str = "", **more: Any) -> dict[str, Any]:
        return await reply_to(self.person, await self.agent(document), question, **more)

    async def missed(self, name: str) -> tuple[list[str], list[str]]:
        """The questions of a set that were not answered by the right sentence, and those wrongly answered."""
        unanswered, invented = [], []
        for one in QUESTIONS[name]:
            said = (await self.ask(one["question"], one.get("document", "")))["message"]["content"]
            if "answer" in one and one["answer"] not in said:
                unanswered.append(f"{one['question']} -> {said}")
            elif "answer" not in one and not said.startswith(REFUSALS):
                invented.append(f"{one['question']} -> {said}")
        return unanswered, invented


@pytest.fixture
async def reader(make_service: ServiceMaker) -> Reader:
    await asyncio.to_thread(pull, MODELS, (EMBEDDING_WEIGHTS,))
    service = await make_service(embedding_model="", models_dir=MODELS)
    return Reader(service, await People(service).signed_in(Role.tenant_admin))


def count(name: str, *, answerable: bool) -> int:
    return sum(("answer" in one) is answerable for one in QUESTIONS[name])


@pytest.mark.campaign
async def test_questions_over_three_documents_are_answered_by_the_right_sentence(reader: Reader) -> None:
    assert (count("acceptance", answerable=True), count("acceptance", answerable=False)) == (20, 5)
    unanswered, invented = await reader.missed("acceptance")
    assert invented == []
    assert len(unanswered) <= 4, unanswered


# The other sets are answered a little worse (`fresh` was never tuned on); this keeps them from getting worse.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most_missed", "most_invented"), [("held_out", 6, 0), ("strange", 1, 0), ("fresh", 6, 1)]
)
async def test_other_questions_are_answered_nearly_as_well(
    reader: Reader, name: str, most_missed: int, most_invented: int
) -> None:
    unanswered, invented = await reader.missed(name)
    assert len(unanswered) <= most_missed, unanswered
    assert len(invented) <= most_invented, invented


async def test_a_quotation_names_its_document_and_page_and_the_reply_is_marked(reader: Reader) -> None:
    reply = await reader.ask("How much may I spend on a hotel room in Paris?", "travel-policy.pdf")
    assert reply["message"]["content"] == (
        "“Hotels may cost up to 140 euros a night including breakfast, or 190 euros in London, Paris and "
        "Zurich.” [1]\n\n[1] travel-policy.pdf, page 1"
    )
    assert [(one["document_name"], one["page"], one["index"]) for one in reply["sources"]] == [
        ("travel-policy.pdf", 1, 1)
    ]
    assert (reply["model"], reply["finish_reason"], reply["warnings"]) == (DEMO, "stop", ["demo_model"])
    assert reply["usage"]["total_tokens"] > 0
    stored = await messages_of(reader.person, reply["conversation_id"])
    assert stored[1]["details"]["warnings"] == ["demo_model"]


async def test_what_is_not_answered_has_no_sources(reader: Reader) -> None:
    reply = await reader.ask("Can Stashbox back up to Google Drive?", "stashbox.md")
    assert reply["message"]["content"] == REFUSALS[0]
    assert (reply["sources"], reply["warnings"]) == ([], ["demo_model"])


async def test_documents_that_are_not_read_yet_are_not_guessed_at(reader: Reader) -> None:
    agent = await make_agent(reader.person, primary_model=DEMO)
    await School(reader.service, None).train(reader.person, agent, sample("clinic.txt"))
    reply = await reply_to(reader.person, agent, "Which doctor treats children?")
    assert reply["message"]["content"].startswith("The documents are still being read.")
    assert (reply["finish_reason"], reply["warnings"]) == ("stop", ["demo_model"])


async def test_a_stream_says_it_word_by_word_and_ends_with_the_warning(reader: Reader) -> None:
    heard = await stream(reader.person, await reader.agent("clinic.txt"), "Which doctor treats children?")
    assert "Dr. Amina Haddad" in text_of(heard)
    assert sum(one.event == "content_delta" for one in heard) > 5
    assert (heard[-1].event, heard[-1].data["warnings"]) == ("message_stop", ["demo_model"])
    whole = await reader.ask("Which doctor treats children?", "clinic.txt")
    assert text_of(heard) == whole["message"]["content"]


async def test_a_job_gives_the_same_answer(reader: Reader) -> None:
    agent = await reader.agent("clinic.txt")
    question = {"message": "Which doctor treats children?"}
    accepted = (await reader.person.post(path_of(agent, "/async"), question)).json()
    await reader.service.runner.drain()
    job = (await reader.person.get(path_of(agent, f"/jobs/{accepted['job_id']}"))).json()
    assert "Dr. Amina Haddad" in job["result"]["message"]["content"]
    assert job["result"]["warnings"] == ["demo_model"]


async def test_a_short_question_is_read_with_the_one_before_it(reader: Reader) -> None:
    first = await reader.ask("When is the practice open on Mondays?", "clinic.txt")
    conversation = {"conversation_id": first["conversation_id"]}
    second = await reader.ask("And on Fridays?", "clinic.txt", **conversation)
    assert "on Fridays from 8 a.m. to 1 p.m." in second["message"]["content"]
    third = await reader.ask("Who won the world cup?", "clinic.txt", **conversation)
    assert third["message"]["content"] == REFUSALS[0]


async def test_an_openai_client_gets_it_within_its_own_bounds(reader: Reader) -> None:
    agent = await reader.agent("clinic.txt", status="published")
    messages = [{"role": "user", "content": "Which doctor treats children?"}]

    async def choice(**more: Any) -> tuple[str, str]:
        body = {"model": agent["name"], "messages": messages, **more}
        answer = await reader.person.post("/v1/chat/completions", body)
        assert answer.status == 200, answer
        chosen = answer.json()["choices"][0]
        return chosen["message"]["content"], chosen["finish_reason"]

    whole, finish = await choice()
    assert ("Dr. Amina Haddad" in whole, finish) == (True, "stop")
    assert await choice(max_tokens=3) == (whole[:12], "length")
    assert await choice(stop=[" for"]) == ("“Dr. Amina Haddad is responsible", "stop")


async def test_visitors_get_it_too_and_are_told_of_the_model(reader: Reader) -> None:
    agent = await reader.agent("clinic.txt", status="published")
    visitor = Holder(Api(reader.service), agent, await make_key(reader.person, agent))
    question = {"session_id": "0123456789abcdef", "message": "Which doctor treats children?"}
    answer = await visitor.api.post(visitor.path, question, headers=visitor.headers)
    assert answer.status == 200, answer
    assert "Dr. Amina Haddad" in answer.json()["assistant_reply"]["content"]
    assert answer.json()["warnings"] == ["demo_model"]


async def test_with_the_models_name_left_open_both_warnings_stand(reader: Reader) -> None:
    agent = await reader.agent("clinic.txt", primary_model="anthropic/claude-sonnet-5")
    reply = await reply_to(reader.person, agent, "Which doctor treats children?")
    assert (reply["model"], reply["warnings"]) == (DEMO, ["model_fallback", "demo_model"])


async def test_another_model_is_told_the_passages_as_before(reader: Reader, provider: Any) -> None:
    agent = await reader.agent("clinic.txt", primary_model="openai_compatible/test-model")
    await add_key_for(reader.person, provider, models=["test-model"])
    provider.says("The model's own words.")
    reply = await reply_to(reader.person, agent, "Which doctor treats children?")
    assert (reply["message"]["content"], reply["warnings"]) == ("The model's own words.", ["unpriced_model"])
    assert "Dr. Amina Haddad" in provider.last.json["messages"][-1]["content"]
