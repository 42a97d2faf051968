"""Conversations that become too long for their model, and what the model was sent."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec

from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import KEY, ProviderServer
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.providers import add_key

Json = dict[str, Any]
MODELS = {"openai": "gpt-test", "anthropic": "claude-test"}
SUMMARY_REQUEST = "Write one summary that covers all of it."
SUMMARY = "The user's boat is called Albatross [msg msg_x]. SUMMARY"
FILLING = "The quick brown fox jumps over the lazy dog. " * 8


def usage_of(provider: ProviderServer, text: str, share: float = 0.25) -> Json:
    """Return the usage that a provider reports: a token for each four characters of the request."""
    prompt, written = int(len(provider.last.body) * share), max(1, int(len(text) * share))
    if "anthropic-version" in provider.last.headers:
        return {"input_tokens": prompt, "output_tokens": written}
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def talk_at_length(provider: ProviderServer, summary: str = SUMMARY, filling: str = FILLING) -> None:
    """Answers at length, and summarizes when asked to."""

    def answer(heard: str) -> Reply:
        text = summary if SUMMARY_REQUEST in heard else f"As for {heard.strip()[-40:]}: {filling}"
        return Reply(text, usage=usage_of(provider, text))

    provider.otherwise = answer


async def long_agent(admin: Api, provider: ProviderServer, name: str = "openai", **more: Any) -> Json:
    base = f"{provider.url}/v1"
    await add_key(admin, provider=name, api_key=KEY, base_url=base, models=[MODELS[name], "small-test"])
    fields = {"system_prompt": "You help sailors.", "max_context_tokens": 2_000, **more}
    return await make_agent(admin, primary_model=f"{name}/{MODELS[name]}", status="published", **fields)


@dataclass
class LongTalk:
    """A conversation; `replies` are its replies, and `starts` the number of requests before each turn."""

    api: Api
    agent: Json
    provider: ProviderServer
    conversation_id: str = ""
    replies: list[Json] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    async def say(self, message: str, **more: Any) -> Json:
        self.starts.append(len(self.chats()))
        known = {"conversation_id": self.conversation_id} if self.conversation_id else {}
        reply = await reply_to(self.api, self.agent, message, **known, **more)
        self.conversation_id = reply["conversation_id"]
        self.replies.append(reply)
        return reply

    async def say_much(self, turns: int, topic: str = "port") -> None:
        for number in range(turns):
            await self.say(f"Tell me about {topic} {number}.")

    def chats(self) -> list[Json]:
        return [one.json for one in self.provider.requests if not one.path.endswith("/models")]

    def answers(self) -> list[Json]:
        """The requests of the agent itself, without those for summaries."""
        return [one for one in self.chats() if not is_for_summary(one)]

    def summaries(self) -> list[Json]:
        return [one for one in self.chats() if is_for_summary(one)]

    def compactions(self) -> list[int]:
        """The turns that compacted the history."""
        return [at for at, reply in enumerate(self.replies) if reply["compaction"] is not None]


def is_for_summary(request: Json) -> bool:
    return SUMMARY_REQUEST in text_of(request["messages"][-1])


def text_of(message: Json) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content)


def tokens_in(request: Json) -> int:
    """Count a token for each four characters, and four for each message."""
    characters = len(msgspec.json.encode(request.get("tools", []))) + len(str(request.get("system", "")))
    for message in request["messages"]:
        calls = message.get("tool_calls", [])
        characters += len(text_of(message)) + sum(len(call["function"]["arguments"]) for call in calls)
    return characters // 4 + 4 * len(request["messages"])


def functions_of(request: Json) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in request.get("tools", [])]


def as_read(request: Json) -> str:
    """Return a request in the order in which a provider reads it, without its marks for the cache."""
    text = msgspec.json.encode(
        [request.get("tools", []), request.get("system"), request["messages"]]
    ).decode()
    return text.replace(',"cache_control":{"type":"ephemeral"}', "")


def shares(requests: list[Json]) -> list[float]:
    """Return the share of each request that the next one begins with."""
    return [_common(one, two) / len(one) for one, two in pairwise(map(as_read, requests))]


def _common(one: str, two: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))


def recall(**arguments: str) -> Call:
    return Call("recall", msgspec.json.encode(arguments).decode(), "call_recall")
