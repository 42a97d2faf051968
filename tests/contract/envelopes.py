"""Checks that every response passes: its headers, and the envelope of an error."""

LIMIT_HEADERS = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-window")


def assert_well_formed(answer) -> None:
    for name in LIMIT_HEADERS:
        assert answer.headers[name].isdigit(), name
    names = [name for name, _ in answer.raw_headers]
    for name in LIMIT_HEADERS:
        assert names.count(name.encode()) == 1, name
    assert answer.headers["x-request-id"].startswith("req_")
    assert answer.headers["x-correlation-id"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "content-security-policy" in answer.headers
    assert "server" not in answer.headers
    if answer.status >= 400:
        assert_envelope(answer)


def assert_envelope(answer) -> None:
    body = answer.json()
    assert "error" in body, body
    if isinstance(body["error"], str):
        assert_oauth_error(answer, body)
        return
    assert set(body) == {"error"}
    # Where OpenAI's clients call, an error has their fields too, both of them.
    assert set(body["error"]) - {"code", "message", "details"} in (set(), {"type", "param"})
    assert body["error"]["code"].replace("_", "").isalnum()
    assert body["error"]["message"].endswith((".", "!", "?")), body["error"]["message"]
    assert answer.headers.get("content-type") == "application/json"
    assert answer.status < 500 or is_fault_of_others(answer)


def is_fault_of_others(answer) -> bool:
    """Return whether the answer tells, as declared, that a server somewhere else has failed."""
    return answer.status == 502 and answer.json()["error"]["code"] == "mcp_failed"


def assert_oauth_error(answer, body) -> None:
    """RFC 6749 says what an error of a token endpoint looks like; only OAuth clients read it."""
    assert body["error"] in {"invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"}
    assert set(body) == {"error", "error_description", "request_id"}
    assert body["request_id"] == answer.headers["x-request-id"]
    assert answer.status in {400, 401}
    assert answer.headers["cache-control"] == "no-store"
