"""Requests that schemathesis makes up from the OpenAPI document, sent through the whole pipeline."""

import functools
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.drivers import CoverageGenerator
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.generation.overrides import Override

from retinue.app import openapi_document
from tests.client import HOST, Api, Response
from tests.contract.declared import find_undeclared
from tests.contract.envelopes import assert_well_formed, is_fault_of_others
from tests.contract.routes import ROUTES, label

SEED = 20_261
# Where the rules of a domain would refuse almost any text, every second one is of the right form.
GOOD_TEXTS = {
    "password": "Battery-Staple-2",
    "new_password": "Battery-Staple-3",
    "timezone": "Europe/Berlin",
    "language": "pt-BR",
    "plan": "team",
}
BASE = f"http://{HOST}"
BY_LABEL = {label(route): route for route in ROUTES}

_NOT_MADE_UP = ("/IdempotencyKey", "/IfNoneMatch", "/TenantId")

load_all_checks()
# The others send requests of their own to a server on the network, or know nothing of a domain's rules.
CHOSEN = CHECKS.get_by_names(
    [
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "unsupported_method",
        "allow_header_conformance",
    ]
)


@functools.cache
def fuzzed_document() -> Any:
    """The document without what cannot be made up: who calls, what is repeated, what was read before."""
    document = json.loads(openapi_document())
    for operation in (each for path in document["paths"].values() for each in path.values()):
        operation["security"] = []
        parameters = operation.get("parameters", [])
        operation["parameters"] = [
            each for each in parameters if not each.get("$ref", "").endswith(_NOT_MADE_UP)
        ]
    schema = schemathesis.openapi.from_dict(document)
    # No PostgreSQL text holds U+0000: it is refused everywhere, which no schema can say.
    schema.config.generation.update(allow_x00=False)
    # More files than a form takes is refused like one that is too large.
    rejection = schema.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    return schema


def operation_of(method: str, path: str) -> Any:
    return fuzzed_document()[path][method]


def boundary_cases(operation: Any) -> Iterator[Any]:
    """Every boundary of the schema, kept and broken; the same each time."""
    return iter(
        CoverageGenerator(
            operation=operation,
            generation_modes=list(GenerationMode),
            generation_config=operation.schema.config.generation_for(operation=operation, phase="coverage"),
            auth_storage=None,
            override=Override(),
            feedback=FeedbackSources(),
        )
    )


def random_cases(operation: Any, count: int) -> list[Any]:
    """Return `count` cases that keep the schema, and as many that break it."""
    drawn: list[Any] = []
    for mode in GenerationMode:
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.headers):
            continue

        @seed(SEED)
        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=count,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        def draw(case: Any) -> None:
            drawn.append(case)

        draw()
    return drawn


@dataclass
class Fuzzer:
    """Sends cases as one caller and remembers what was wrong with the answers."""

    api: Api
    known_ids: dict[str, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    async def send(self, case: Any) -> Response:
        number = self.statuses.total()
        self._adapt(case, number)
        prepared = prepare(case)
        target = urlsplit(prepared.url)
        caller = self.api.at(f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")
        headers = {name.lower(): value for name, value in prepared.headers.items()}
        path = target.path + (f"?{target.query}" if target.query else "")
        answer = await caller.request(
            prepared.method, path, content=_bytes(prepared.body), headers={**headers, "host": HOST}
        )
        self.statuses[answer.status] += 1
        if answer.status == 401:
            self.reasons[answer.details["reason"]] += 1
        self._judge(case, prepared, answer)
        return answer

    def _adapt(self, case: Any, number: int) -> None:
        """Replace ids of every second case by those of existing objects, where the schema allows any path."""
        # Nobody has a minute for each case.
        if str(case.query.get("wait")).isdecimal() and int(str(case.query["wait"])) <= 60:
            case.query["wait"] = 0
        if isinstance(case.body, dict | list):
            case.body = whole(case.body)
        if number % 2:
            return
        if _keeps_schema(case, ParameterLocation.PATH):
            for name in case.path_parameters:
                if ids := self.known_ids.get(name):
                    case.path_parameters[name] = ids[number // 2 % len(ids)]
        if isinstance(case.body, dict) and _keeps_schema(case, ParameterLocation.BODY):
            case.body = with_good_texts(case.body)

    def _judge(self, case: Any, prepared: Any, answer: Response) -> None:
        try:
            assert answer.status < 500 or is_fault_of_others(answer), "a fault of ours"
            # Any bytes are a file, whatever the schema calls them.
            is_any_file = case.operation.label == "POST /api/v1/files"
            chosen = [
                one for one in CHOSEN if not (is_any_file and one.__name__ == "negative_data_rejection")
            ]
            case.validate_response(_wrapped(answer, prepared), checks=chosen)
            if case.method.upper() != "HEAD":
                assert_well_formed(answer)
            if case.method.upper() == case.operation.method.upper():
                self._judge_closely(case, prepared, answer)
        except (FailureGroup, AssertionError, msgspec.MsgspecError) as error:
            self.problems.append(
                f"{prepared.method} {prepared.url} {prepared.body!r:.300}\n→ {answer!r}\n{error}"
            )

    @staticmethod
    def _judge_closely(case: Any, prepared: Any, answer: Response) -> None:
        if answer.status < 300 and answer.headers.get("content-type", "").startswith("application/json"):
            found = find_undeclared(case.operation.label, answer)
            assert not found, f"answers with undeclared keys: {found}"
        route = BY_LABEL[case.operation.label]
        if case.meta.generation.mode is GenerationMode.POSITIVE and route.body is not None:
            # A domain may have more rules; what refuses here is the decoder that the schema was written from.
            # Answers to a form are refused with 400, by the specification.
            is_refused = answer.status == 415 or (answer.status == 400 and answer.code != "validation_error")
            assert not is_refused, "refuses a body that its schema allows"
            route.body_decoder(_bytes(prepared.body) or b"{}")


def prepare(case: Any) -> Any:
    kwargs = case.as_transport_kwargs(base_url=BASE)
    kwargs.pop("cookies", None)
    return requests.Request(**kwargs).prepare()


def whole(value: Any) -> Any:
    """JSON Schema takes 1.0 for an integer; our decoder does not, and no schema can say so."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _keeps_schema(case: Any, location: ParameterLocation) -> bool:
    info = case.meta.components.get(location)
    return info is not None and info.mode is GenerationMode.POSITIVE


def with_good_texts(body: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for key, value in body.items():
        if isinstance(value, dict):
            found[key] = with_good_texts(value)
        else:
            found[key] = GOOD_TEXTS[key] if key in GOOD_TEXTS and isinstance(value, str) else value
    return found


def _bytes(body: Any) -> bytes:
    if body is None:
        return b""
    return body.encode() if isinstance(body, str) else bytes(body)


def _wrapped(answer: Response, prepared: Any) -> Any:
    headers: dict[str, list[str]] = {}
    for name, value in answer.raw_headers:
        headers.setdefault(name.decode(), []).append(value.decode("latin-1"))
    return schemathesis.Response(
        status_code=answer.status,
        headers=headers,
        content=answer.body,
        request=prepared,
        elapsed=0.0,
        verify=False,
    )
