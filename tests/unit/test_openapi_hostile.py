"""Descriptions made to do harm, and everything chance comes up with: endpoints or a refusal, in time."""

import contextlib
import json
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retinue.adapters.openapi import InvalidDocument, parse_api, parse_text
from retinue.kit.schema.json_schema import compile_schema
from tests.unit.openapi_samples import PETS, SWAGGER, make_document, make_post_document


def expect_refusal(asking, *arguments) -> str:
    with pytest.raises(InvalidDocument) as caught:
        asking(*arguments)
    return caught.value.details["document"]


def test_references_that_multiply_are_cut_off_in_time():
    """Each of these schemas holds the next one twenty times."""
    schemas = {
        f"S{n}": {"properties": {f"p{m}": {"$ref": f"#/components/schemas/S{n + 1}"} for m in range(20)}}
        for n in range(30)
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    paths = {f"/{number}": {"post": {"requestBody": {"content": content}}} for number in range(900)}
    document = make_document(paths, components={"schemas": schemas})
    begun = time.process_time()
    assert expect_refusal(parse_api, document).startswith("needs more than 400,000 steps")
    assert time.process_time() - begun < 10


def test_text_may_be_json_or_yaml():
    assert parse_text(json.dumps(PETS).encode()) == PETS
    assert parse_text(b"\xef\xbb\xbf  " + json.dumps(PETS).encode()) == PETS
    assert parse_text(yaml.safe_dump(PETS).encode()) == PETS


def test_yaml_means_what_json_can_say():
    text = """
    base: &base {a: 1, b: yes}
    merged: {<<: *base, b: 2, c: [*base]}
    several: {<<: [*base, {d: 4}]}
    words: [no, on, 12:30, 2026-01-01, ~, null, true, 0x1f, 1_000, .inf, 1e3, -5, "5", !!str 5]
    200: {x: !!python/object:os.system y}
    long: 123456789012345678901234567890
    """
    assert parse_text(text.encode()) == {
        "base": {"a": 1, "b": "yes"},
        "merged": {"a": 1, "b": 2, "c": [{"a": 1, "b": "yes"}]},
        "several": {"a": 1, "b": "yes", "d": 4},
        "words": [
            "no",
            "on",
            "12:30",
            "2026-01-01",
            None,
            None,
            True,
            "0x1f",
            "1_000",
            ".inf",
            1000.0,
            -5,
            "5",
            "5",
        ],
        "200": {"x": "y"},
        "long": 123456789012345678901234567890,
    }


def billion_laughs(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def merged_aliases(levels: int) -> str:
    lines = ["a0: &a0 {" + ", ".join(f"k{n}: 1" for n in range(50)) + "}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 50)}]}}" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_that_multiply_are_read_without_being_unfolded():
    head = "openapi: 3.1.0\ninfo: {title: *a20, version: *a20}"
    schema = "{default: *a20, enum: *a20, allOf: *a20, properties: {a: *a20}}"
    body = f"{{parameters: *a20, requestBody: {{content: {{application/json: {{schema: {schema}}}}}}}}}"
    text = f"{billion_laughs(21)}\n{head}\npaths: {{/x: {{post: {body}}}}}"
    begun = time.process_time()
    (endpoint,) = parse_api(parse_text(text.encode())).endpoints
    assert endpoint.path == "/x"
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"{", "is not valid JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"{" + b" " * (16 * 1024**2) + b"}", "has 16.0 MiB, and at most 16 MiB are read"),
        (b"a: [", "is not valid YAML"),
        (b"a: 'b\n", "is not valid YAML"),
        (b"a: \x00", "is not valid YAML"),
        (b"a: \xff", "is not UTF-8 text"),
        (b"- " * 100_000, "is nested too deeply"),
        (b"? " * 100_000, "is nested too deeply"),
        (b"a: " + b"[" * 100_000, "is nested too deeply"),
        (b"a: " + b"{" * 100_000, "is nested too deeply"),
        (b"x: y\n" * 4_000_000, "has 19.1 MiB, and at most 16 MiB are read"),
        (b"- a\n" * 500_000, "has too much YAML"),
        (b"&a [*a]", "has a YAML alias"),
        (b"a: *b", "has a YAML alias"),
        (b"? [a]\n: b", "has a YAML key that is not a string"),
        (b"a: {<<: 5}", "merges (<<)"),
        (b"--- a\n--- b", "must be exactly one YAML document"),
        (b"", "must be exactly one YAML document"),
        (merged_aliases(600).encode(), "has too much YAML"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused_in_time(text, why):
    begun = time.process_time()
    assert expect_refusal(parse_text, text).startswith(why)
    assert time.process_time() - begun < 5


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
WORDS = st.sampled_from(
    (
        *("openapi", "swagger", "info", "paths", "get", "post", "put", "parameters", "name", "in", "schema"),
        *("type", "properties", "items", "allOf", "anyOf", "$ref", "enum", "default", "required", "content"),
        *("application/json", "requestBody", "responses", "200", "components", "securitySchemes", "servers"),
        *("url", "nullable", "minimum", "pattern", "object", "string", "array", "query", "path", "header"),
        *("apiKey", "oauth2", "#/components/schemas/Pet", "#/definitions/Pet", "#"),
    )
)
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)


def check(document):
    """Check that any document gives usable endpoints, or one clear refusal."""
    try:
        api = parse_api(document)
    except InvalidDocument:
        return
    names = [endpoint.name for endpoint in api.endpoints]
    assert len(set(names)) == len(names)
    for endpoint in api.endpoints:
        assert 0 < len(endpoint.name) <= 64
        compile_schema(endpoint.input_schema, "input_schema")
        if endpoint.output_schema is not None:
            compile_schema(endpoint.output_schema, "output_schema")
        json.dumps([endpoint.default_params, endpoint.default_headers])


FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@FUZZ
@given(JSON)
def test_no_value_at_all_makes_the_reader_fail(document):
    check(document)
    check({"openapi": "3.1.0", "paths": document})
    check({"swagger": "2.0", "paths": {"/x": {"post": document}}})
    check(make_post_document(document))


def places(value, path=()):
    yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, child in children:
        yield from places(child, (*path, name))


def replace_at(value, path, by):
    if not path:
        return by
    name, *rest = path
    if isinstance(value, dict):
        return {**value, name: replace_at(value[name], rest, by)}
    return [replace_at(item, rest, by) if number == name else item for number, item in enumerate(value)]


@FUZZ
@given(st.sampled_from([PETS, SWAGGER]), st.data())
def test_no_wrong_value_anywhere_makes_the_reader_fail(document, data):
    for _ in range(3):
        place = data.draw(st.sampled_from(list(places(document))))
        document = replace_at(document, place, data.draw(JSON))
    check(document)


@FUZZ
@given(
    st.binary(max_size=200) | st.text(alphabet="-?:,[]{}#&*!|>'\"%@` \nab01<.", max_size=80).map(str.encode)
)
def test_no_text_at_all_makes_the_reader_fail(text):
    with contextlib.suppress(InvalidDocument):
        json.dumps(parse_text(text))


class Quoting(yaml.SafeDumper):
    """Puts every text in quotes: what is a number without them is not the same in YAML 1.1 and 1.2."""


Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


@FUZZ
@given(JSON)
def test_yaml_reads_back_what_was_written(value):
    value = json.loads(json.dumps({"a": value}).encode("utf-8", "replace"))
    assert parse_text(yaml.dump(value, Dumper=Quoting).encode()) == value
