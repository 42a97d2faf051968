import json
from types import SimpleNamespace

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator
from schemathesis import GenerationMode

from retinue.kit.context import Context
from retinue.kit.http.openapi import describe
from retinue.kit.http.request_content import decode_query
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.lists import Page
from retinue.kit.schema.base import Schema
from tests.kit.openapi_routes import ROUTES

RATE_LIMIT_HEADERS = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Window"}
BY_NAME = {route.name: route for route in ROUTES}


@pytest.fixture(scope="module")
def document():
    return json.loads(describe(ROUTES, "https://retinue.example"))


@pytest.fixture(scope="module")
def operations(document):
    return {
        operation["operationId"]: operation
        for path in document["paths"].values()
        for operation in path.values()
    }


def resolve_reference(document, node):
    while "$ref" in node:
        target = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def answer_schema(operation, status="200"):
    return operation["responses"][status]["content"]["application/json"]["schema"]


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_the_document_is_valid_openapi_3_1(document):
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"].startswith("3.1.")
    assert document["servers"] == [{"url": "https://retinue.example"}]
    assert [tag["name"] for tag in document["tags"]] == ["agents", "discovery", "files"]


def test_every_reference_leads_somewhere_and_every_schema_is_used(document):
    used = set(references(document))
    for reference in used:
        assert resolve_reference(document, {"$ref": reference})
    for name in document["components"]["schemas"]:
        assert f"#/components/schemas/{name}" in used


def test_the_same_routes_in_any_order_give_the_same_bytes():
    assert describe(ROUTES, "http://a") == describe(reversed(ROUTES), "http://a")


def test_an_operation_says_who_may_call_it_and_what_it_costs(operations):
    listing = operations["list_agents"]
    assert listing["summary"] == "List agents"
    assert listing["description"] == "The agents of the tenant, newest first."
    assert listing["tags"] == ["agents"]
    assert (listing["x-requires"], listing["x-cost"]) == ("agents:read", "read")
    assert listing["security"] == [{"bearer": []}]
    assert operations["set_label"]["x-requires"] == "signed_in"
    assert operations["get_health"]["x-requires"] == "public"
    assert operations["get_health"]["security"] == []
    assert operations["chat"]["x-cost"] == "chat"


def test_path_parameters_are_named_as_in_the_path(operations):
    parameters = operations["set_label"]["parameters"]
    named = [(each["name"], each["in"], each["required"]) for each in parameters if "name" in each]
    assert named == [("agent_id", "path", True), ("label", "path", True)]


def test_query_fields_are_parameters_with_their_limits_and_defaults(operations):
    parameters = {
        each["name"]: each for each in operations["list_agents"]["parameters"] if each.get("in") == "query"
    }
    assert list(parameters) == ["page", "per_page", "search", "sort", "status", "archived", "created_after"]
    assert not any(each["required"] for each in parameters.values())
    assert parameters["page"]["schema"].items() >= {"type": "integer", "minimum": 1, "default": 1}.items()
    assert parameters["search"]["schema"].items() >= {"type": "string", "maxLength": 100}.items()
    assert parameters["status"]["schema"] == {"$ref": "#/components/schemas/Status"}
    assert parameters["archived"]["description"] == "Whether to show archived agents too."
    assert parameters["archived"]["schema"] == {"type": "boolean", "default": False}
    assert parameters["created_after"]["schema"] == {"type": "string", "maxLength": 40}


def test_a_body_may_be_left_out_only_when_every_field_may(operations):
    assert operations["create_agent"]["requestBody"]["required"] is True
    assert operations["change_agent"]["requestBody"]["required"] is False
    assert "requestBody" not in operations["list_agents"]


def test_a_request_schema_has_the_limits_of_its_fields(document):
    schema = document["components"]["schemas"]["AgentIn"]
    assert schema["required"] == ["name", "slug"]
    assert "additionalProperties" not in schema
    assert schema["properties"]["slug"]["pattern"] == "^[a-z][a-z0-9-]*$"
    assert schema["properties"]["temperature"] == {
        "type": "number",
        "minimum": 0,
        "maximum": 2,
        "default": 0.7,
    }
    tools = schema["properties"]["tools"]
    assert tools["maxItems"] == 20
    assert tools["items"]["discriminator"]["mapping"]["http"] == "#/components/schemas/HttpTool"


def test_what_is_only_given_always_has_its_fields_unless_they_are_unset(document):
    schemas = document["components"]["schemas"]
    assert schemas["AgentOut"]["required"] == ["id", "name", "status", "kind", "parent", "tools"]
    assert schemas["HttpTool"]["required"] == ["type", "url"]


def test_a_list_page_has_a_name_of_its_own(document, operations):
    assert answer_schema(operations["list_agents"]) == {"$ref": "#/components/schemas/AgentSummaryPage"}
    page = document["components"]["schemas"]["AgentSummaryPage"]
    assert page["title"] == "AgentSummaryPage"
    assert page["properties"]["data"]["items"] == {"$ref": "#/components/schemas/AgentSummary"}


def test_a_reply_is_described_by_its_body(operations):
    assert answer_schema(operations["change_agent"])["allOf"] == [
        {"$ref": "#/components/schemas/AgentOut"},
        {"$ref": "#/components/schemas/RequestWarnings"},
    ]


def test_a_union_is_any_of_its_members_beside_its_stream(operations):
    content = operations["chat"]["responses"]["200"]["content"]
    assert content["application/json"]["schema"]["allOf"][0]["anyOf"] == [
        {"$ref": "#/components/schemas/MessageReply"},
        {"$ref": "#/components/schemas/Started"},
    ]
    assert "text/event-stream" in content


def test_wrapped_answers_are_described_below_data(operations):
    schema = answer_schema(operations["upload_file"], "201")
    started = {"$ref": "#/components/schemas/Started"}
    assert schema["properties"]["data"] == {"description": "Result of the operation.", **started}
    assert schema["properties"]["warnings"]["type"] == "array"
    assert schema["required"] == ["data"]
    many = answer_schema(operations["upload_files"])
    assert many["properties"]["data"] == {"description": "The entries.", "type": "array", "items": started}


def test_a_body_may_be_sent_strictly_and_its_warnings_are_somewhere(operations):
    prefer = {"$ref": "#/components/parameters/Prefer"}
    assert prefer in operations["change_agent"]["parameters"]
    assert prefer in operations["upload_file"]["parameters"]
    assert prefer not in operations["list_agents"]["parameters"]
    header = {"$ref": "#/components/headers/X-Retinue-Warnings"}
    assert operations["upload_files"]["responses"]["200"]["headers"]["X-Retinue-Warnings"] == header
    assert "X-Retinue-Warnings" not in operations["change_agent"]["responses"]["200"]["headers"]


def test_nothing_returned_is_no_content(operations):
    assert "content" not in operations["delete_agent"]["responses"]["204"]


@pytest.mark.parametrize("name", ["download_file", "get_page"])
def test_files_and_documents_may_have_any_media_type(operations, name):
    assert operations[name]["responses"]["200"]["content"] == {"*/*": {}}


def test_an_upload_is_a_form_with_files(operations):
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    one = operations["upload_file"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert one["properties"] == {"file": file}
    assert one["required"] == ["file"]
    many = operations["upload_files"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    assert many["properties"]["files"] == {"type": "array", "items": file, "minItems": 1, "maxItems": 20}


@pytest.mark.parametrize(
    ("name", "statuses"),
    [
        ("list_agents", "200 401 403 404 422 429 503"),
        ("create_agent", "201 400 401 403 404 409 413 415 422 429 503"),
        ("get_agent", "200 401 403 404 429 503"),
        ("delete_agent", "204 401 403 404 429 503"),
        ("set_label", "200 400 401 404 413 415 422 429 503"),
        ("upload_file", "201 401 403 404 409 413 415 422 429 503"),
        ("download_file", "200 401 403 404 503"),
        ("get_health", "200 503"),
    ],
)
def test_an_operation_lists_the_statuses_that_can_happen(operations, name, statuses):
    assert " ".join(operations[name]["responses"]) == statuses


@pytest.mark.parametrize(
    ("name", "status", "codes"),
    [
        ("create_agent", "409", ["agent_archived", "idempotency_conflict", "slug_taken"]),
        ("create_agent", "403", ["forbidden"]),
        ("create_agent", "422", ["idempotency_key_reused", "validation_error"]),
        ("get_agent", "404", ["agent_not_found", "tenant_not_found"]),
        ("set_label", "404", ["agent_not_found", "not_found"]),
        ("chat", "413", ["payload_too_large"]),
        ("upload_file", "413", ["file_too_large"]),
    ],
)
def test_a_refusal_lists_its_codes(document, operations, name, status, codes):
    response = resolve_reference(document, operations[name]["responses"][status])
    assert response["x-codes"] == codes
    for code in codes:
        assert f"`{code}`: " in response["description"]


def test_refusals_of_one_code_are_all_described(document, operations):
    description = resolve_reference(document, operations["create_agent"]["responses"]["403"])["description"]
    assert "You are not allowed to do this." in description
    assert "Only the owner may do this." in description


def test_every_refusal_has_the_one_envelope_and_every_answer_the_limit_headers(document, operations):
    for operation in operations.values():
        for status, answer in operation["responses"].items():
            response = resolve_reference(document, answer)
            assert response["headers"].keys() >= RATE_LIMIT_HEADERS
            if int(status) >= 400:
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Error"}
    assert document["components"]["schemas"]["ErrorContent"]["required"] == ["code", "message"]
    assert "Retry-After" in resolve_reference(document, operations["chat"]["responses"]["429"])["headers"]


def test_an_idempotent_operation_takes_a_key(operations):
    key = {"$ref": "#/components/parameters/IdempotencyKey"}
    assert key in operations["create_agent"]["parameters"]
    assert key not in operations["chat"]["parameters"]
    assert "Idempotent-Replayed" in operations["create_agent"]["responses"]["201"]["headers"]


def test_the_tenant_to_act_in_is_a_header_wherever_it_counts(document, operations):
    tenant = {"$ref": "#/components/parameters/TenantId"}
    assert document["components"]["parameters"]["TenantId"]["name"] == "X-Tenant-ID"
    taking = {name for name, each in operations.items() if tenant in each.get("parameters", [])}
    of_a_tenant = {name for name, each in operations.items() if ":" in each["x-requires"]}
    assert taking == of_a_tenant


def _routes_returning(*types):
    routes = Routes("/things", tag="things")
    for number, returned in enumerate(types):

        async def get_thing(ctx): ...

        get_thing.__name__ = f"get_thing_{number}"
        get_thing.__annotations__ = {"ctx": Context, "return": returned}
        routes.get(f"/{number}", requires=PUBLIC)(get_thing)
    return routes.routes


def _class(module):
    return msgspec.defstruct("Thing", [(module, str)], bases=(Schema,), module=module)


def test_two_shapes_of_one_name_are_refused_by_both_their_names():
    with pytest.raises(TypeError, match=r"agents\.Thing and forms\.Thing .* Thing"):
        describe(_routes_returning(_class("agents"), _class("forms")), "")


def test_two_pages_of_one_name_are_refused_by_both_their_names():
    with pytest.raises(TypeError, match=r"Page\[agents\.Thing\] and .*Page\[forms\.Thing\]"):
        describe(_routes_returning(Page[_class("agents")], Page[_class("forms")]), "")


def test_a_handler_without_a_return_annotation_is_refused():
    routes = Routes("/things", tag="things")

    @routes.get("", requires=PUBLIC)
    async def get_things(ctx: Context): ...

    with pytest.raises(TypeError, match="get_things does not say what it returns"):
        describe(routes.routes, "")


def test_paths_that_differ_only_in_a_parameter_name_are_refused():
    routes = Routes("/things", tag="things")

    @routes.get("/{thing_id}", requires=PUBLIC)
    async def get_thing(ctx: Context, thing_id: str) -> None: ...

    @routes.delete("/{id}", requires=PUBLIC)
    async def delete_thing(ctx: Context, id: str) -> None: ...

    with pytest.raises(TypeError, match="differ only in the names"):
        describe(routes.routes, "")


def _whole(value):
    """JSON Schema takes 1.0 for an integer; our decoder does not, and no schema can say so."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.mark.parametrize(
    "name", [name for name, route in BY_NAME.items() if route.body is not None or route.query is not None]
)
def test_the_server_takes_whatever_its_schema_allows(document, name):
    route = BY_NAME[name]
    operation = schemathesis.openapi.from_dict(document)[route.path][route.method]

    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    @settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    def check(case):
        if route.body is not None and isinstance(case.body, dict):
            route.body_decoder(msgspec.json.encode(_whole(case.body)))
        if route.query is not None:
            texts = {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in case.query.items()
            }
            decode_query(SimpleNamespace(query_string=b"?", query=lambda: texts), route.query)

    check()
