"""The leak guard finds a secret in every form it commonly takes."""

import base64
import binascii
import html
import io
import json
import sys
import time
import urllib.parse

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.kit.text.redaction import Redactor

SECRET = 'p/ss+w"ö \\r<d=CANARY-1234'

FORMS = {
    "as it is": lambda text: text,
    "in JSON": lambda text: json.dumps({"password": text}),
    "in JSON with letters of any language": lambda text: json.dumps({"password": text}, ensure_ascii=False),
    "in JSON of PHP": lambda text: json.dumps({"password": text}).replace("/", r"\/"),
    "in JSON inside JSON": lambda text: json.dumps(json.dumps({"password": text})),
    "in Python": lambda text: repr({"password": text}),
    "in markup": lambda text: f"<b>{html.escape(text)}</b>",
    "percent-encoded": lambda text: "a=" + urllib.parse.quote(text, safe=""),
    "in a form": lambda text: urllib.parse.urlencode({"a": text}),
    "in hexadecimal": lambda text: text.encode().hex(),
    "in upper-case hexadecimal": lambda text: binascii.hexlify(text.encode()).decode().upper(),
    "in base64": lambda text: base64.b64encode(text.encode()).decode(),
    "in base64 after a name": lambda text: base64.b64encode(b"user:" + text.encode()).decode(),
    "in base64 between others": lambda text: base64.b64encode(b"us:" + text.encode() + b"!!").decode(),
    "in base64 for URLs": lambda text: base64.urlsafe_b64encode(b"u:" + text.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_of_a_secret_is_cut_out(form) -> None:
    written = FORMS[form](SECRET)
    cleaned = Redactor([SECRET]).text(f"before {written} after")
    assert "***" in cleaned
    assert "CANARY" not in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    core = written.strip('{}"=')[8:-8]
    assert core not in cleaned


def test_values_are_cleaned_at_any_depth_and_in_names() -> None:
    found = {"a": [{"b": f"x{SECRET}y"}, 1, True, None], SECRET: 2.5}
    cleaned = Redactor([SECRET]).value(found)
    assert cleaned == {"a": [{"b": "x***y"}, 1, True, None], "***": 2.5}


def test_a_number_that_is_a_secret_is_cut_out() -> None:
    assert Redactor(["987654"]).value({"pin": 987654, "other": 987655}) == {"pin": "***", "other": 987655}


def test_a_secret_inside_a_longer_one_leaves_nothing_standing() -> None:
    assert Redactor(["abcd", "abcd-efgh-ijkl"]).text("abcd-efgh-ijkl abcd") == "*** ***"


def test_short_values_and_none_at_all_change_nothing() -> None:
    assert Redactor(["", "a", "no"]).text("a no banana") == "a no banana"
    value = {"a": [1]}
    assert Redactor().value(value) is value


def test_each_line_of_a_private_key_is_cut_out() -> None:
    line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ"
    key = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\n-----END OPENSSH PRIVATE KEY-----\n"
    assert line not in Redactor([key]).text(f"could not parse {line}")


@pytest.fixture
def logged(monkeypatch):
    before, written = structlog.get_config(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logging(Settings(log_format="json"))
    yield written
    structlog.configure(**before)


def test_logs_are_cleaned_while_the_guard_is_up(logged) -> None:
    log, redactor = structlog.get_logger("test"), Redactor([SECRET])
    with redactor.guarding_logs():
        log.warning("it said", answer=f"this: {SECRET}")
    log.warning("later")
    assert "CANARY" not in logged.getvalue()
    assert "later" in logged.getvalue()


def test_secrets_that_share_a_part_leave_none_of_it() -> None:
    redactor = Redactor(["one-two", "two-three"])
    assert redactor.text("[one-two-three] [ONE-TWO][two-three]") == "[***] [***][***]"


def test_a_guard_does_not_show_what_it_guards() -> None:
    assert "CANARY" not in repr(Redactor([SECRET]))


@given(st.text(min_size=6, max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_no_text_survives_with_its_secret(secret, before, after) -> None:
    cleaned = Redactor([secret]).text(before + secret + after)
    assert secret not in cleaned or secret in "***"


def test_many_secrets_in_a_large_answer_are_found_in_no_time() -> None:
    secrets = [f"secret-number-{number:04d}" for number in range(100)]
    answer = [{"name": "nothing to see here"} for _ in range(50_000)]
    started = time.process_time()
    assert Redactor(secrets).value(answer) is answer
    assert time.process_time() - started < 2
    assert Redactor(secrets).value([*answer, secrets[7]])[-1] == "***"
