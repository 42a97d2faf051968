"""Structured output with LangChain's own client; runs in an environment of its own.

Reads `{ base_url, api_key, model }` from stdin and writes what came of each way to ask, or its error.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field


class Place(BaseModel):
    """A place on the map."""

    city: str = Field(description="Name of the city.")
    people: int = Field(description="How many people live there.")


SCHEMA = {
    "title": "Place",
    "description": "A place on the map.",
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
METHODS: dict[str, tuple[bool | None, ...]] = {
    "json_schema": (None, True, False),
    "function_calling": (None, True, False),
    "json_mode": (None,),
}
QUESTION = "Where does the clock tower stand? Answer in JSON."


def plain(answer: Any) -> Any:
    if isinstance(answer, BaseModel):
        return {"as": type(answer).__name__, **answer.model_dump()}
    return answer


def ways(model: ChatOpenAI) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    for method, stricts in METHODS.items():
        for strict in stricts:
            more = {} if strict is None else {"strict": strict}
            for name, shape in (("class", Place), ("schema", SCHEMA)):
                asked = model.with_structured_output(shape, method=method, **more)
                raw = model.with_structured_output(shape, method=method, include_raw=True, **more)
                label = f"{method} strict={strict} {name}"
                found[label] = lambda asked=asked: asked.invoke(QUESTION)
                found[f"{label} raw"] = lambda raw=raw: raw.invoke(QUESTION)["parsed"]
                found[f"{label} stream"] = lambda asked=asked: list(asked.stream(QUESTION))[-1]
    return found


def outcome(ask: Callable[[], Any]) -> Any:
    try:
        return plain(ask())
    except Exception as error:  # noqa: BLE001  told to whoever reads it
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main() -> None:
    given = json.load(sys.stdin)
    model = ChatOpenAI(max_retries=0, **given)
    sys.stdout.write(json.dumps({label: outcome(ask) for label, ask in ways(model).items()}))


main()
