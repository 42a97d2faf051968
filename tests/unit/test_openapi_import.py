"""Descriptions of APIs become endpoints a tool can call; none of them can do harm."""

import pytest

from retinue.adapters.openapi import InvalidDocument, parse_api
from retinue.kit.errors import Invalid
from retinue.kit.schema.json_schema import compile_schema
from tests.unit.openapi_samples import PETS, SWAGGER, make_document, make_post_document, pets


def endpoints(document):
    return {endpoint.name: endpoint for endpoint in parse_api(document).endpoints}


def only(document):
    (endpoint,) = parse_api(document).endpoints
    return endpoint


def reasons(document):
    return {skipped.what: skipped.why for skipped in parse_api(document).skipped}


def expect_refusal(asking, *arguments) -> str:
    with pytest.raises(InvalidDocument) as caught:
        asking(*arguments)
    assert isinstance(caught.value, Invalid)
    assert (caught.value.status, caught.value.code) == (422, "validation_error")
    return caught.value.details["document"]


def test_the_api_itself_is_described():
    api = parse_api(pets())
    assert (api.title, api.description, api.version) == ("Pet Store", "Sells pets.", "1.2")
    assert api.base_url == "https://eu.pets.example/v1"
    assert (api.auth.auth_type, api.auth.auth_config) == (
        "api_key",
        {"api_key_header": "X-API-Key", "api_key_location": "header"},
    )
    assert [endpoint.name for endpoint in api.endpoints] == [
        "list_pets",
        "create_pet",
        "get_pets_pet_id",
        "replace_pet",
        "delete_pet",
    ]
    assert [(skipped.what, skipped.why) for skipped in api.skipped] == [
        ("HEAD /pets/{petId}", "tools use GET, POST, PUT, PATCH and DELETE only")
    ]


def test_query_parameters_make_a_flat_input():
    listed = endpoints(pets())["list_pets"]
    assert (listed.method, listed.path, listed.summary) == ("GET", "/pets", "List all pets")
    assert listed.description == "Page by page."
    assert listed.is_flat
    assert listed.input_schema == {
        "type": "object",
        "properties": {
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "default": 20,
                "description": "How many",
            }
        },
    }
    assert listed.default_headers == {"api-version": "2026-01-01"}
    assert listed.default_params == {}


def test_a_body_lies_flat_beside_the_path_without_what_only_the_server_sets():
    made = endpoints(pets())["create_pet"]
    assert made.is_flat
    properties = made.input_schema["properties"]
    assert list(properties) == ["name", "tag", "secret", "parent", "weight"]
    assert made.input_schema["required"] == ["name"]
    assert properties["tag"] == {"type": ["string", "null"], "enum": ["cat", "dog", None]}
    assert properties["weight"] == {"type": "number", "exclusiveMinimum": 0}
    # The pet's own parent is cut where the circle closes.
    assert properties["parent"] == {"type": "object"}
    assert only(make_post_document({"type": "object", "additionalProperties": True})).input_schema == {
        "type": "object",
        "properties": {},
    }


def test_the_answer_is_described_without_what_is_never_shown():
    output = endpoints(pets())["list_pets"].output_schema
    assert output["type"] == "array"
    assert "secret" not in output["items"]["properties"]
    assert "id" in output["items"]["properties"]
    assert endpoints(pets())["create_pet"].output_schema is None


@pytest.mark.parametrize(
    "document",
    [
        pets() | {"paths": {"/pets/{petId}": PETS["paths"]["/pets/{petId}"]}},
        make_post_document({"type": "array", "items": {"type": "string"}}),
        make_post_document({"oneOf": [{"type": "object"}, {"type": "string"}]}),
        make_post_document({"type": "object", "properties": {"query": {"type": "string"}}}),
        make_post_document({}),
    ],
)
def test_an_input_that_would_be_ambiguous_says_what_goes_where(document):
    structured = [endpoint for endpoint in parse_api(document).endpoints if not endpoint.is_flat]
    (endpoint,) = structured
    assert endpoint.input_schema["properties"].keys() <= {"path_params", "query", "body"}
    assert "body" in endpoint.input_schema["required"]


def test_a_get_never_takes_a_body():
    body = {"required": True, "content": {"application/json": {"schema": {"type": "string"}}}}
    document = make_document({"/{query}": {"get": {"requestBody": body}}})
    assert only(document).input_schema["properties"].keys() == {"path_params"}
    assert only(document).input_schema["required"] == ["path_params"]


def test_a_structured_input_has_its_parts():
    replaced = endpoints(pets())["replace_pet"].input_schema
    assert replaced["required"] == ["path_params", "body"]
    assert replaced["properties"]["path_params"] == {
        "type": "object",
        "properties": {"petId": {"type": "string"}},
        "required": ["petId"],
    }
    assert replaced["properties"]["query"]["properties"] == {"dry_run": {"type": "boolean"}}


def test_swagger_is_read_too():
    api = parse_api(SWAGGER)
    assert api.base_url == "https://pets.example:8443/v1"
    assert (api.auth.auth_type, api.auth.auth_config) == (
        "oauth2",
        {"token_url": "https://login.example/token", "scope": "read write"},
    )
    endpoint, photos = api.endpoints
    assert (photos.body_type, photos.body_styles) == ("multipart", {"file": "file"})
    assert photos.input_schema["properties"]["file"]["required"] == ["filename"]
    assert endpoint.input_schema == {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 1},
            "name": {"type": "string"},
            "age": {"type": "integer"},
        },
        "required": ["id", "name"],
    }
    assert endpoint.output_schema["allOf"][0]["required"] == ["name"]
    assert reasons(SWAGGER) == {}


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ({"type": "http", "scheme": "bearer"}, ("bearer", {})),
        ({"type": "http", "scheme": "basic"}, ("basic", {})),
        ({"type": "http", "scheme": "digest"}, ("none", {})),
        (
            {"type": "apiKey", "in": "query", "name": "k"},
            ("api_key", {"api_key_header": "k", "api_key_location": "query"}),
        ),
        ({"type": "apiKey", "in": "cookie", "name": "k"}, ("none", {})),
        ({"type": "openIdConnect", "openIdConnectUrl": "https://x.example"}, ("bearer", {})),
        (
            {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "https://x.example/t", "scopes": {}}},
            },
            ("oauth2", {"token_url": "https://x.example/t"}),
        ),
        ({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/relative"}}}, ("bearer", {})),
        (
            {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://x.example"}}},
            ("bearer", {}),
        ),
        ({"$ref": "#/components/securitySchemes/s"}, ("none", {})),
        (5, ("none", {})),
    ],
)
def test_a_security_scheme_suggests_how_to_enter(scheme, expected):
    auth = parse_api(make_document({}, components={"securitySchemes": {"s": scheme}})).auth
    assert (auth.auth_type, auth.auth_config) == expected


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ([{"url": "https://a.example/"}], "https://a.example"),
        ([{"url": "/v1"}], None),
        ([{"url": "ftp://a.example"}], None),
        ([{"url": "https://user:pass@a.example"}], None),
        ([{"url": "https://{host}/x"}], None),
        ([{"url": "https://a.example/?x=1"}], None),
        ([], None),
        ("https://a.example", None),
    ],
)
def test_the_address_is_an_absolute_one_or_none(servers, expected):
    assert parse_api(make_document({}, servers=servers)).base_url == expected


@pytest.mark.parametrize(
    ("path", "operation", "why"),
    [
        ("/x", {"parameters": [{"name": "c", "in": "cookie", "required": True}]}, "it requires a cookie"),
        (
            "/x",
            {"parameters": [{"name": "Content-Length", "in": "header", "required": True}]},
            "it requires the header Content-Length",
        ),
        (
            "/x",
            {"parameters": [{"name": "Host", "in": "header", "required": True, "schema": {"const": "x"}}]},
            "it requires the header Host",
        ),
        (
            "/x",
            {"requestBody": {"required": True, "content": {"text/csv": {}}}},
            "its body is neither JSON nor a form",
        ),
        ("/x", {"servers": [{"url": "https://b.example"}]}, "it is on another server"),
        ("x", {}, "its path is not a valid template"),
        ("/{a", {}, "its path is not a valid template"),
        ("/{}", {}, "its path is not a valid template"),
        ("/x?y={a}", {}, "its path is not a valid template"),
        ("/x#y", {}, "its path is not a valid template"),
        ("/x y", {}, "its path is not a valid template"),
        ("//a\\b", {}, "its path is not a valid template"),
        ("/" + "x" * 2000, {}, "its path is not a valid template"),
    ],
)
def test_what_no_tool_can_call_is_left_out_with_the_reason(path, operation, why):
    document = make_document({path: {"post": operation}, "/good": {"get": {}}})
    assert [endpoint.path for endpoint in parse_api(document).endpoints] == ["/good"]
    assert list(reasons(document).values()) == [why]


def test_names_are_unique_short_and_plain():
    operations = {
        "/a": {"get": {"operationId": "x" * 100}, "post": {"operationId": "x" * 100}},
        "/b": {"get": {"operationId": "Get User's_HTTPData!"}, "put": {"operationId": "…"}},
        "/c/{d}": {"get": {}, "delete": {"operationId": ["list"]}},
    }
    names = [endpoint.name for endpoint in parse_api(make_document(operations)).endpoints]
    assert names == [
        "x" * 64,
        "x" * 62 + "_2",
        "get_user_s_httpdata",
        "operation",
        "get_c_d",
        "delete_c_d",
    ]


def test_references_to_elsewhere_are_never_followed(monkeypatch):
    monkeypatch.setattr("builtins.open", None)
    references = ["file:///etc/passwd", "https://evil.example/x.json#/a", "other.yaml", "../secret"]
    properties = {f"p{number}": {"$ref": reference} for number, reference in enumerate(references)}
    document = make_post_document({"type": "object", "properties": properties})
    assert only(document).input_schema["properties"] == {name: {} for name in properties}
    assert set(reasons(document).values()) == {"is outside the document"}


@pytest.mark.parametrize(
    "reference",
    ["#", "#/", "#/nowhere", "#/paths/~1x/post/requestBody/content/application~1json/schema", "#/x/y/z"],
)
def test_references_in_circles_and_to_nowhere_end(reference):
    assert only(make_post_document({"$ref": reference})).input_schema["properties"].keys() == {"body"}


def test_a_schema_too_deep_or_too_wide_is_taken_over_in_part():
    deep = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep, "b": {"type": "string"}}}
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}}
    many = {
        f"S{n}": {"type": "object", "properties": {"a": {"$ref": f"#/components/schemas/S{n + 1}"}}}
        for n in range(99)
    }
    for document in (
        make_post_document(deep),
        make_post_document(wide),
        make_post_document({"$ref": "#/components/schemas/S0"}, components={"schemas": many}),
    ):
        compile_schema(only(document).input_schema, "schema")


def test_what_a_shortened_schema_could_wrongly_refuse_is_left_out():
    schema = {
        "properties": {
            "choice": {"oneOf": [{"type": "string"}, {"type": "integer"}], "not": {"const": 5}},
            "closed": {"type": "object", "additionalProperties": False, "properties": {"a": True}},
            "open": {"additionalProperties": False, "patternProperties": {"^x": {}}},
            "map": {"additionalProperties": {"type": "integer"}},
        }
    }
    assert only(make_post_document(schema)).input_schema["properties"] == {
        "choice": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "closed": {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
        "open": {},
        "map": {"additionalProperties": {"type": "integer"}},
    }


def test_a_required_parameter_with_one_possible_value_is_filled_in():
    parameters = [
        {"name": "v", "in": "query", "required": True, "schema": {"const": "2026"}},
        {"name": "p", "in": "path", "required": True, "schema": {"enum": ["only"]}},
        {"name": "q", "in": "query", "required": True, "schema": {"type": "string"}},
    ]
    endpoint = only(make_document({"/{p}": {"get": {"parameters": parameters}}}))
    assert endpoint.default_params == {"v": "2026"}
    assert endpoint.input_schema["required"] == ["p", "q"]


def test_patterns_that_cannot_be_checked_are_left_out():
    schema = {
        "properties": {"a": {"pattern": "^[a-z]+$"}, "b": {"pattern": "(?<!x)y"}, "c": {"pattern": "("}}
    }
    properties = only(make_post_document(schema)).input_schema["properties"]
    assert properties == {"a": {"pattern": "^[a-z]+$"}, "b": {}, "c": {}}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        ({}, "must declare openapi 3.0 or 3.1, or swagger 2.0"),
        ({"openapi": "4.0"}, "must declare openapi 3.0 or 3.1, or swagger 2.0"),
        ({"openapi": {}}, "must declare openapi 3.0 or 3.1, or swagger 2.0"),
        ({"openapi": "3.1.0"}, "has no paths"),
        ({"swagger": 2.0, "paths": []}, "has no paths"),
        (
            make_document({f"/{n}": {"get": {}} for n in range(2000)}),
            "has 2000 operations, and a tool at most 1000; name the ones that you need in `operations`",
        ),
    ],
)
def test_a_document_that_is_none_is_refused_with_the_reason(document, why):
    assert expect_refusal(parse_api, document) == why
