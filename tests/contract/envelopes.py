"""What every response has: its headers, and the envelope of an error."""

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
    assert set(body) == {"error"}
    assert set(body["error"]) <= {"code", "message", "details"}
    assert body["error"]["code"].replace("_", "").isalnum()
    assert body["error"]["message"].endswith((".", "!", "?")), body["error"]["message"]
    assert answer.headers.get("content-type") == "application/json"
    assert answer.status < 500
