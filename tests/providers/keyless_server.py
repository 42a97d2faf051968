"""A model server on a developer's machine."""

from typing import Any

import msgspec

from tests.adapters import llm_as_openai
from tests.adapters.llm_replies import Answer
from tests.adapters.llm_server import ProviderServer, Request

TAGS = {"models": [{"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 2019393189}]}


class KeylessServer(ProviderServer):
    """Speaks OpenAI's protocol without a key, as LM Studio and vLLM do; with `tags`, as Ollama does."""

    def __init__(self, tags: Any = None) -> None:
        super().__init__()
        self.tags = tags

    def answer(self, request: Request) -> Answer:
        if request.path == "/api/tags":
            if self.tags is None:
                return Answer(404, b'{"error":"Unexpected endpoint or method."}')
            return Answer(body=msgspec.json.encode(self.tags))
        return llm_as_openai.answer(request, self._next_reply)
