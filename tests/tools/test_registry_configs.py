"""Known keys of a configuration are checked when a tool is saved; what is missing is not."""

import pytest

from tests.factories.tools import make_tool, tool_body

pytestmark = pytest.mark.either_database

REST = "rest_api"
TEMPLATE = {"kind": "http_template"}
MCP = {"kind": "mcp"}


@pytest.mark.parametrize(
    ("tool_type", "config", "field"),
    [
        (REST, {"base_url": 7}, "config.base_url"),
        (REST, {"base_url": "ftp://example.com"}, "config.base_url"),
        (REST, {"base_url": "https://user:pass@example.com"}, "config.base_url"),
        (REST, {"base_url": "https://example.com\\@evil.example"}, "config.base_url"),
        (REST, {"base_url": "https://{host}/"}, "config.base_url"),
        (REST, {"timeout_ms": "5000"}, "config.timeout_ms"),
        (REST, {"timeout_ms": 0}, "config.timeout_ms"),
        (REST, {"timeout_ms": True}, "config.timeout_ms"),
        (REST, {"retry_count": -1}, "config.retry_count"),
        (REST, {"retry_count": 1.5}, "config.retry_count"),
        (REST, {"endpoints": []}, "config.endpoints"),
        (REST, {"endpoints": {"a": {"method": "BREW"}}}, "config.endpoints.a.method"),
        (REST, {"endpoints": {"a": {"path": 1}}}, "config.endpoints.a.path"),
        (REST, {"endpoints": {"a": {"default_params": []}}}, "config.endpoints.a.default_params"),
        (REST, {"endpoints": {"a": {"description": {}}}}, "config.endpoints.a.description"),
        (REST, {"endpoints": {"a": {"input_schema": "x"}}}, "config.endpoints.a.input_schema"),
        (
            REST,
            {"endpoints": {"a": {"default_headers": {"Host": "x"}}}},
            "config.endpoints.a.default_headers",
        ),
        (
            REST,
            {"endpoints": {"a": {"default_headers": {"X": "a\r\nb"}}}},
            "config.endpoints.a.default_headers",
        ),
        ("webhook", {"url": "//example.com"}, "config.url"),
        ("webhook", {"method": 1}, "config.method"),
        ("webhook", {"method": "TRACE"}, "config.method"),
        ("webhook", {"headers": {"Content-Length": "1"}}, "config.headers"),
        ("webhook", {"headers": {"X-Service-Signature": "1"}}, "config.headers"),
        ("webhook", {"headers": {"X": ["a"]}}, "config.headers.X"),
        ("database", {"db_type": "oracle"}, "config.db_type"),
        ("database", {"port": "5432"}, "config.port"),
        ("database", {"port": 70000}, "config.port"),
        ("database", {"ssl": "on"}, "config.ssl"),
        ("database", {"ssl_mode": 1}, "config.ssl_mode"),
        ("database", {"max_rows": 0}, "config.max_rows"),
        ("database", {"allowed_operations": "select"}, "config.allowed_operations"),
        ("database", {"allowed_operations": ["select", "drop"]}, "config.allowed_operations.1"),
        ("function", {"runtime": "ruby"}, "config.runtime"),
        ("function", {"code": ["x"]}, "config.code"),
        ("function", {"packages": "requests"}, "config.packages"),
        ("function", {"packages": ["requests", 7]}, "config.packages.1"),
        ("script", {"runtime": ""}, "config.runtime"),
        ("script", {"entrypoint": "../../etc/passwd"}, "config.entrypoint"),
        ("script", {"entrypoint": "/etc/passwd"}, "config.entrypoint"),
        ("script", {"entrypoint": "a/../../x.py"}, "config.entrypoint"),
        ("script", {"entrypoint": "..\\x.py"}, "config.entrypoint"),
        ("script", {"entrypoint": ""}, "config.entrypoint"),
        ("custom", {"kind": 7}, "config.kind"),
        ("custom", {**MCP, "server_url": "gopher://x"}, "config.server_url"),
        ("custom", {**MCP, "transport": "stdio"}, "config.transport"),
        ("custom", {**TEMPLATE, "request": "GET /"}, "config.request"),
        ("custom", {**TEMPLATE, "request": {"url": "https://{{x}}/"}}, "config.request.url"),
        ("custom", {**TEMPLATE, "request": {"headers": {"Te": "x"}}}, "config.request.headers"),
        ("custom", {**TEMPLATE, "request": {"method": 5}}, "config.request.method"),
        ("custom", {**TEMPLATE, "request": {"query": []}}, "config.request.query"),
        ("custom", {"kind": "workflow", "workflow_id": 7}, "config.workflow_id"),
        ("custom", {"kind": "agent", "agent_id": ["agt_1"]}, "config.agent_id"),
        ("custom", {"kind": "form", "form_id": {}}, "config.form_id"),
        ("custom", {"kind": "form", "timeout_ms": 0}, "config.timeout_ms"),
        ("custom", {"kind": "data_table", "operations": ["query", "drop"]}, "config.operations.1"),
        ("custom", {"kind": "data_table", "max_rows": "5"}, "config.max_rows"),
    ],
)
async def test_a_known_key_that_cannot_be_used_is_refused_under_its_name(
    admin, tool_type, config, field
) -> None:
    answer = await admin.post("/v1/tools", tool_body(tool_type=tool_type, config=config))
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field])


@pytest.mark.parametrize(
    ("tool_type", "config"),
    [
        (REST, {}),
        (REST, {"base_url": "http://127.0.0.1:22/", "endpoints": {}}),
        (REST, {"base_url": "http://169.254.169.254/latest"}),
        (REST, {"base_url": ""}),
        (REST, {"endpoints": {"a": {"method": "patch", "default_headers": {"X-Page": 7}, "note": []}}}),
        (REST, {"timeout_ms": 10**9, "retry_count": 10, "unknown": {"x": [None]}}),
        ("webhook", {"url": "https://example.com/hook", "method": "post", "headers": {"X-Team": "a"}}),
        ("database", {"db_type": "Postgres", "allowed_operations": ["READ", "Insert"], "ssl": False}),
        ("function", {"runtime": "python3.11", "code": "def main(input): return 1"}),
        ("function", {"runtime": "nodejs20"}),
        ("script", {"runtime": "node", "entrypoint": "reports/daily.js"}),
        ("script", {"runtime": "python", "entrypoint": "file_aaaaaaaaaaaaaaaaaaaaaaaaaa"}),
        ("custom", {}),
        ("custom", {"kind": "teleport", "server_url": 7}),
        ("custom", {"kind": "workflow"}),
        ("custom", {"kind": "agent", "agent_id": "", "note": 7}),
        ("custom", {"kind": "data_table", "operations": []}),
        ("custom", {**MCP, "transport": "streamable_http"}),
        ("custom", {**TEMPLATE, "request": {"url": "https://example.com/{{city}}"}}),
        ("custom", {**TEMPLATE, "request": {"url": None, "headers": {"X": None}}}),
        (REST, {"endpoints": {"a": {"method": None, "path": None}}}),
    ],
)
async def test_what_is_missing_or_unknown_or_forbidden_to_call_is_saved(admin, tool_type, config) -> None:
    await make_tool(admin, tool_type=tool_type, config=config)


async def test_every_problem_of_a_configuration_is_told_at_once(admin) -> None:
    config = {
        "base_url": "nowhere",
        "endpoints": {"a": {"method": "X", "default_headers": {"Host": "x"}}, "b": {"path": []}},
        "retry_count": -1,
    }
    answer = await admin.post("/v1/tools", tool_body(config=config))
    assert set(answer.details) == {
        "config.base_url",
        "config.endpoints.a.method",
        "config.endpoints.a.default_headers",
        "config.endpoints.b.path",
        "config.retry_count",
    }


@pytest.mark.parametrize(
    ("auth_config", "field"),
    [
        ({"token": 7}, "auth_config.token"),
        ({"headers": {"X": 7}}, "auth_config.headers.X"),
        ({"headers": {"Host": "SECRET"}}, "auth_config.headers"),
        ({"headers": {"X": "SECRET\r\nY: 1"}}, "auth_config.headers"),
        ({"query": "SECRET"}, "auth_config.query"),
        ({"api_key_location": "body"}, "auth_config.api_key_location"),
        ({"api_key_header": "Bad Name", "api_key_value": "SECRET"}, "auth_config.api_key_header"),
        ({"api_key_header": "Connection"}, "auth_config.api_key_header"),
        ({"token_url": "file:///etc/passwd"}, "auth_config.token_url"),
        ({"credential_id": 7}, "auth_config.credential_id"),
        ({"token": "SECRET" * 20_000}, "auth_config"),
    ],
)
async def test_secrets_that_cannot_be_used_are_refused_and_not_repeated(admin, auth_config, field) -> None:
    answer = await admin.post("/v1/tools", tool_body(auth_type="custom", auth_config=auth_config))
    assert (answer.status, list(answer.details)) == (422, [field])
    assert b"SECRET" not in answer.body
