"""The grammar of `allowed_domains` (T11): whole comparison, no ends, no beginnings, no surprises."""

import pytest

from retinue.embed.origins import InvalidOriginEntry, is_allowed, parse_entry

ANY_FORM = [
    "https://example.com",
    "http://example.com",
    "https://example.com:8443",
    "capacitor://example.com",
]
STRANGERS = [
    None,
    "",
    "null",
    "*",
    "example.com",
    "//example.com",
    "https://",
    "https://example.com/",
    "https://example.com/path",
    "https://example.com?x",
    "https://example.com#x",
    "https://EXAMPLE.com",
    "HTTPS://example.com",
    "https://example.com.",
    "https://example.com.evil",
    "https://evil-example.com",
    "https://evilexample.com",
    "https://example.co",
    "https://example.com@evil.example",
    "https://evil.example@example.com",
    "https://user:pw@example.com",
    "https://evil.example/example.com",
    "https://evil.example?example.com",
    "https://evil.example#example.com",
    "https://example.com evil",
    "https://example.com, https://evil.example",
    "https://example.com\t",
    " https://example.com",
    "https://example.com:",
    "https://example.com:port",
    "https://example.com:123456",
    "https://xn--example-9d0b.com",
    "https://\u0435xample.com",
    "https://example\u3002com",
    "https://exam\x00ple.com",
    "javascript://example.com%0aalert(1)",
    "file://",
    "data:text/html,example.com",
]


@pytest.mark.parametrize("entries", [[], ["*"], ["other.example", "*"]])
@pytest.mark.parametrize("origin", [*ANY_FORM, *STRANGERS])
def test_no_list_and_a_star_let_everyone_in_and_those_without_an_origin(entries, origin):
    assert is_allowed(origin, entries)


def test_an_address_is_kept_in_the_form_that_browsers_send():
    assert parse_entry("https://[::FFFF:127.0.0.1]") == "https://[::ffff:7f00:1]"
    assert is_allowed("https://[::ffff:7f00:1]", [parse_entry("[::ffff:127.0.0.1]")])


@pytest.mark.parametrize("origin", ANY_FORM)
def test_a_host_is_itself_on_every_scheme_and_port(origin):
    assert is_allowed(origin, ["example.com"])


@pytest.mark.parametrize(
    "entry",
    ["example.com", "https://example.com", "*.example.com", "example.com:443", "https://example.com:8443"],
)
@pytest.mark.parametrize("origin", STRANGERS)
def test_nobody_is_let_in_for_looking_alike(entry, origin):
    assert not is_allowed(origin, [entry])


def test_a_host_does_not_stand_for_what_is_below_it():
    assert not is_allowed("https://www.example.com", ["example.com"])


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://example.com:8443", True),
        ("http://example.com:8443", False),
        ("https://example.com", False),
        ("https://example.com:443", False),
        ("https://example.com:84430", False),
        ("https://www.example.com:8443", False),
    ],
)
def test_an_origin_is_itself_only(origin, expected):
    assert is_allowed(origin, ["https://example.com:8443"]) is expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://a.example.com", True),
        ("http://a.b.example.com:81", True),
        ("https://example.com", False),
        ("https://a.example.com.evil", False),
        ("https://aexample.com", False),
        ("https://a.example.community", False),
        ("https://.example.com", False),
        ("https://*.example.com", False),
    ],
)
def test_a_star_before_a_host_stands_for_what_is_below_it(origin, expected):
    assert is_allowed(origin, ["*.example.com"]) is expected


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://localhost:3000", True),
        ("https://localhost:3000", True),
        ("http://localhost", False),
        ("http://localhost:30000", False),
    ],
)
def test_a_host_with_a_port_is_that_port_on_every_scheme(origin, expected):
    assert is_allowed(origin, ["localhost:3000"]) is expected


def test_the_usual_port_need_not_be_written():
    assert is_allowed("https://example.com", ["example.com:443"])
    assert not is_allowed("http://example.com", ["example.com:443"])


def test_addresses_are_hosts_too():
    assert is_allowed("http://127.0.0.1:8000", ["127.0.0.1"])
    assert not is_allowed("http://127.0.0.11", ["127.0.0.1"])
    assert is_allowed("http://[::1]:8000", [parse_entry("[0:0::1]")])
    assert not is_allowed("http://[::1]", [parse_entry("*.1")])


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("*", "*"),
        (" Example.COM ", "example.com"),
        ("https://Example.com/", "https://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("http://example.com:80", "http://example.com"),
        ("http://example.com:443", "http://example.com:443"),
        ("example.com:08443", "example.com:8443"),
        ("*.Example.com", "*.example.com"),
        ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("[0:0:0:0:0:0:0:1]", "[::1]"),
        ("my_host", "my_host"),
    ],
)
def test_an_entry_has_one_form(written, kept):
    assert parse_entry(written) == kept
    assert parse_entry(kept) == kept


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "**",
        "*.",
        "*example.com",
        "exa*mple.com",
        "*.*.example.com",
        "https://*.example.com",
        "*.example.com:8443",
        "*.[::1]",
        "https://*",
        "example.com/path",
        "https://example.com/path",
        "https://example.com?x",
        "https://user@example.com",
        "//example.com",
        "https:example.com",
        "https://",
        ".example.com",
        "example.com.",
        "example..com",
        "-example.com",
        "example.com:0",
        "example.com:65536",
        "example.com:x",
        "a b",
        "example.com,other.com",
        "münchen.example",
        "[::g]",
        "[::1",
        "a" * 64,
        ".".join(["a" * 60] * 5),
    ],
)
def test_what_is_not_of_the_grammar_is_refused(written):
    with pytest.raises(InvalidOriginEntry, match="must"):
        parse_entry(written)
