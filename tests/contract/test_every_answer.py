"""Tests of every answer of every route, for any caller."""

import pytest

from retinue.kit.http.routing import EMBED_KEY, Route
from tests.contract.envelopes import assert_well_formed
from tests.contract.routes import NOT_PUBLIC, ROUTES, call, groups, label

pytestmark = pytest.mark.either_database


@groups(NOT_PUBLIC)
async def test_nobody_in_particular_is_asked_for_a_token(service, api, routes: list[Route]) -> None:
    for route in routes:
        service.instance.clock.advance(60)
        answer = await call(api, route)
        assert answer.status == 401, label(route)
        assert answer.code == "unauthorized", label(route)
        assert answer.details == {"reason": "missing_token"}, label(route)
        assert answer.headers["www-authenticate"] == "Bearer", label(route)
        assert_well_formed(answer)


@groups(NOT_PUBLIC)
async def test_a_key_that_nobody_has_or_garbage_is_no_token(service, api, routes: list[Route]) -> None:
    for route in routes:
        service.instance.clock.advance(60)
        for token in ("emb_aaaaaaaaaaaaaaaaaaaaaaaaaa", "garbage", "a.b.c", "rft_x"):
            answer = await call(api.signed_in(token), route)
            is_taken_for_a_key = route.requires is EMBED_KEY or (
                route.takes_embed_key and token.startswith("emb_")
            )
            reason = "invalid_api_key" if is_taken_for_a_key else "invalid_token"
            assert (answer.status, answer.details) == (401, {"reason": reason}), label(route)


async def test_every_answer_is_well_formed_for_anyone(service, api, admin) -> None:
    """One sweep as nobody and one as the super administrator, over all routes."""
    for route in ROUTES:
        if route.name in {"logout", "get_metrics"}:
            continue
        for caller in (api, admin):
            answer = await call(caller, route)
            assert_well_formed(answer)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/api/v1/nowhere", 404, "not_found"),
        ("GET", "//auth/me", 404, "not_found"),
        ("GET", "/auth/me/", 404, "not_found"),
        ("GET", "/./auth/me", 404, "not_found"),
        ("GET", "/AUTH/ME", 404, "not_found"),
        ("DELETE", "/auth/login", 405, "method_not_allowed"),
        ("BREW", "/auth/login", 405, "method_not_allowed"),
    ],
)
async def test_unknown_addresses_and_methods_are_refused_in_the_envelope(
    api, method, path, status, code
) -> None:
    answer = await api.request(method, path)
    assert (answer.status, answer.code) == (status, code)
    assert_well_formed(answer)


async def test_a_wrong_method_names_the_right_ones(api) -> None:
    assert (await api.get("/auth/login")).headers["allow"] == "POST"


async def test_a_correlation_id_is_echoed_and_a_bad_one_replaced(api) -> None:
    answer = await api.get("/health", headers={"X-Correlation-ID": "my.chain-1"})
    assert answer.headers["x-correlation-id"] == "my.chain-1"
    for bad in ("a b", "x" * 65, "é", ""):
        answer = await api.get("/health", headers={"X-Correlation-ID": bad})
        assert answer.headers["x-correlation-id"].startswith("cor_")


async def test_both_prefixes_say_which_version_they_are(api) -> None:
    assert (await api.get("/api/v1/profile")).headers["x-api-version"] == "1"
    assert "x-api-version" not in (await api.get("/auth/me")).headers


async def test_the_text_null_drops_no_filter(admin) -> None:
    for query in ({"role": "null"}, {"status": "Null"}, {"page": "null"}):
        answer = await admin.get("/users", query=query)
        assert (answer.status, answer.code) == (422, "validation_error")
        assert list(answer.details) == list(query)


async def test_a_head_request_is_a_get_without_its_body(api) -> None:
    answer = await api.request("HEAD", "/health")
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {}, 400, "invalid_json"),
        (b"\xff\xfe", {}, 400, "invalid_json"),
        (b"\xef\xbb\xbf{}", {}, 400, "invalid_json"),
        (b'{"email": NaN}', {}, 400, "invalid_json"),
        (b'{"email":"\\ud800","password":"x"}', {}, 400, "invalid_json"),
        (b"[" * 100_000, {}, 400, "invalid_json"),
        (b'{"x":' + b"[" * 65 + b"]" * 65 + b"}", {}, 400, "invalid_json"),
        (b'{"x": ' + b"9" * 10_000 + b"}", {}, 400, "invalid_json"),
        (b"[]", {}, 422, "validation_error"),
        (b"null", {}, 422, "validation_error"),
        (b'"text"', {}, 422, "validation_error"),
        (b"", {}, 422, "validation_error"),
        (b'{"email":"a\\u0000b","password":"x"}', {}, 422, "validation_error"),
        (b"email=a", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        (b" " * (1024 * 1024 + 1), {}, 413, "payload_too_large"),
        (b"{}", {"Content-Length": "999999999999999999999"}, 413, "payload_too_large"),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_bad_bodies_get_a_clear_refusal(api, content, headers, status, code) -> None:
    answer = await api.request("POST", "/auth/login", content=content, headers=headers)
    assert (answer.status, answer.code) == (status, code)
    assert_well_formed(answer)
