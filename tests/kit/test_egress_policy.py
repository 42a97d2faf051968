import ipaddress
import random
import socket

import pytest

from retinue.kit.egress import (
    AllowList,
    EgressRefused,
    check_custom_headers,
    check_headers,
    is_public,
    parse_destination,
)
from retinue.kit.egress.policy import is_own
from retinue.kit.settings import LOOPBACK, BadSetting, Settings
from tests.kit.egress_targets import LOOPBACK_SPELLINGS, PRIVATE_ADDRESSES, PUBLIC_ADDRESSES, REFUSED_HOSTS


def refusal(url, allow=(), **options):
    with pytest.raises(EgressRefused) as caught:
        parse_destination(url, AllowList(allow), **options)
    assert (caught.value.status, caught.value.code) == (422, "ssrf_blocked")
    return caught.value


@pytest.mark.parametrize("host", REFUSED_HOSTS)
def test_every_spelling_of_an_inner_address_is_refused_by_its_text(host):
    for scheme, port in (("http", ""), ("https", ""), ("http", ":8080"), ("HTTPS", ":8443")):
        assert refusal(f"{scheme}://{host}{port}/x").reason in {"address", "url"}


@pytest.mark.parametrize("address", PRIVATE_ADDRESSES)
def test_an_address_that_is_not_of_the_public_internet_is_denied(address):
    parsed = ipaddress.ip_address(address)
    assert not is_public(parsed)
    host = f"[{parsed}]" if parsed.version == 6 else str(parsed)
    assert refusal(f"https://{host}/").reason == "address"


@pytest.mark.parametrize("address", PUBLIC_ADDRESSES)
def test_an_address_beside_the_denied_networks_is_public(address):
    assert is_public(ipaddress.ip_address(address))


def test_nothing_is_public_that_the_standard_library_calls_private():
    numbers = random.Random(7)
    for _ in range(20_000):
        v4 = ipaddress.IPv4Address(numbers.getrandbits(32))
        v6 = ipaddress.IPv6Address(numbers.getrandbits(128))
        assert not is_public(v4) or v4.is_global
        assert not is_public(v6) or v6.is_global


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
def test_a_legacy_address_means_what_the_operating_system_makes_of_it(host):
    found = socket.getaddrinfo(host.removesuffix("."), 80, type=socket.SOCK_STREAM)
    destination = parse_destination(f"http://{host}/", AllowList(LOOPBACK))
    assert {sockaddr[0] for *_, sockaddr in found} == {"127.0.0.1"} == {destination.host}


def test_the_machines_own_addresses_are_known():
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("8.8.8.8"))
    assert not is_own(ipaddress.ip_address("2606:4700::1111"))


def test_a_kernel_that_binds_any_address_does_not_make_every_address_our_own(monkeypatch):
    monkeypatch.setattr("retinue.kit.egress.policy._can_bind", lambda _address: True)
    assert not is_own(ipaddress.ip_address("8.8.8.8"))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1\\@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http:\\\\example.com/",
        "http://example.com/a\\b",
        "http://example.com\t.evil/",
        "http://exam\nple.com/",
        "http://example.com/a\r\nHost: evil",
        "http://example.com/a b",
        " http://example.com/",
        "http://example.com/ ",
        "http://example.com/\x00",
        "http://example.com/\x7f",
        "http://example.com/\u00a0",
        "http://example.com/\u2028",
        "http://example.com/\u200b",
        "http://example.com/\ud800",
        "http:///x",
        "http://",
        "http:example.com",
        "http:/example.com",
        "//example.com/",
        "example.com",
        "",
        "http://:80/",
        "http://?x",
        "http://#x",
        "http://[example.com]/",
        "http://[127.0.0.1]/",
        "http://[v1.x]/",
        "http://[::1/",
        "http://::1/",
        "http://[::1]x/",
        "http://[::1]]/",
        "http://a[::1]/",
        "http://[2606:4700::1111%25eth0]/",
        "http://a@b@c/",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://example.com%2f@127.0.0.1/",
        "http://127.0.0.1%2f@example.com/",
        "http://example%2ecom/",
        "http://example.com%00/",
        "http://ⓔxample.com/",
        "http://münchen.example/",
        "http://example。com/",
        "http://example.com:/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:+80/",
        "http://example.com:8_0/",
        "http://example.com:80:80/",
        "http://example.com:\uff18\uff10/",
        "http://example..com/",
        "http://.example.com/",
        "http://example.com../",
        "http://-example.com/",
        "http://exa mple.com/",
        "http://exa,mple.com/",
        "http://1.2.3.4.5/",
        "http://256.256.256.256/",
        "http://127.0.0.0x/",
        "http://4294967296/",
        "http://example.com.127/",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 130 + "com/",
        "http://example.com/" + "a" * 9000,
        *(
            f"{scheme}//example.com/"
            for scheme in ("file:", "gopher:", "dict:", "ftp:", "ws:", "unix:", "httpx:")
        ),
        "file:///etc/passwd",
        "data:text/plain,x",
        "jar:http://example.com!/",
        "javascript:alert(1)",
        "unix:/var/run/docker.sock",
    ],
)
def test_a_url_programs_could_read_differently_is_refused(url):
    error = refusal(url, ("0.0.0.0/0", "::/0"))
    assert error.reason in {"url", "scheme"}
    assert "secret" not in error.message


def test_a_destination_is_the_canonical_form_of_a_url():
    destination = parse_destination("HTTPS://Example.COM.:8443/a/../b?q=ä|{x}&y=%2F#frag")
    assert (destination.scheme, destination.host, destination.port) == ("https", "example.com", 8443)
    assert destination.path_and_query == "/a/../b?q=%C3%A4%7C%7Bx%7D&y=%2F"
    assert (destination.authority, destination.origin) == ("example.com:8443", "https://example.com:8443")
    assert destination.url.startswith("HTTPS://Example")
    assert parse_destination("http://example.com?k=v").path_and_query == "/?k=v"
    assert parse_destination("http://example.com").path_and_query == "/"
    assert parse_destination("http://example.com//127.0.0.1/@x").host == "example.com"
    assert parse_destination("http://[2606:4700:0::1111]:80/").authority == "[2606:4700::1111]"
    assert parse_destination("https://xn--mnchen-3ya.example/").host == "xn--mnchen-3ya.example"


def test_a_destination_does_not_print_its_path_and_query():
    assert "sk-1" not in repr(parse_destination("https://example.com/sk-1?key=sk-1"))


@pytest.mark.parametrize("port", [22, 25, 110, 143, 465, 587, 2375, 3306, 5432, 6379, 9200, 11211, 27017])
def test_ports_of_other_services_are_refused_unless_listed(port):
    assert refusal(f"https://example.com:{port}/").reason == "port"
    assert refusal(f"http://1.1.1.1:{port}/", ("1.1.1.1:1",)).reason == "port"
    assert parse_destination(f"https://example.com:{port}/", AllowList(("example.com",))).port == port
    assert parse_destination(f"http://10.1.2.3:{port}/", AllowList(("10.0.0.0/8",))).port == port


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 9000, 11434])
def test_ports_where_http_is_usual_are_open(port):
    assert parse_destination(f"http://example.com:{port}/").port == port


def test_plain_http_is_refused_where_https_is_required_except_for_listed_destinations():
    assert refusal("http://example.com/", require_https=True).reason == "https_required"
    assert parse_destination("https://example.com/", require_https=True).scheme == "https"
    allow = AllowList(("hooks.example:8080", "10.0.0.0/8", *LOOPBACK))
    for url in ("http://hooks.example:8080/", "http://10.2.3.4/", "http://localhost:1/", "http://[::1]:99/"):
        assert parse_destination(url, allow, require_https=True).scheme == "http"
    assert refusal("http://hooks.example/", ("hooks.example:8080",), require_https=True)


@pytest.mark.parametrize(
    ("entry", "inside", "outside"),
    [
        ("db.internal", "http://db.internal:5432/", "http://x.db.internal:5432/"),
        ("DB.Internal.", "http://db.internal:5432/", "http://db.internal2:5432/"),
        ("localhost", "http://localhost:5432/", "http://127.0.0.1/"),
        ("127.0.0.0/8", "http://localhost:8080/", "http://[::1]/"),
        ("127.0.0.0/8", "http://127.9.9.9:6379/", "http://[::ffff:127.0.0.1]/"),
        ("127.0.0.1:8080", "http://127.1:8080/", "http://127.0.0.1:8081/"),
        ("::1", "http://[::1]:6379/", "http://127.0.0.1/"),
        ("[::1]:8080", "http://[0:0::1]:8080/", "http://[::1]:8081/"),
        ("fd00::/8", "http://[fd00::1]/", "http://[fe80::1]/"),
        ("metadata.google.internal", "http://metadata.google.internal/", "http://metadata/"),
    ],
)
def test_the_allow_list_opens_what_it_names_and_nothing_else(entry, inside, outside):
    assert parse_destination(inside, AllowList((entry,)))
    assert refusal(outside, (entry,))


@pytest.mark.parametrize(
    "entry", ["*", "*.example.com", "10.0.0.5/8", "1.2.3.4/33", "a:b", "http://x", "", "x:0", "[::1"]
)
def test_an_allow_list_entry_that_means_nothing_stops_the_start(entry):
    with pytest.raises(BadSetting, match="RETINUE_EGRESS_ALLOW"):
        AllowList((entry,))


def test_loopback_is_open_only_while_the_base_url_is_loopback():
    development = AllowList(Settings(base_url="http://127.0.0.1:8000").egress_allowed())
    production = AllowList(Settings(base_url="https://agents.example.com").egress_allowed())
    for url in ("http://localhost:1/", "http://127.0.0.1:1/", "http://[::1]:1/"):
        assert parse_destination(url, development, require_https=True)
        with pytest.raises(EgressRefused):
            parse_destination(url, production)
    with pytest.raises(EgressRefused):
        parse_destination("http://0.0.0.0:8000/", development)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, "x")
            for name in ("Host", "content-length", "Transfer-Encoding", "CONNECTION", "Upgrade", "TE")
        ),
        *(
            (name, "x")
            for name in ("Proxy-Authorization", "Accept-Encoding", "Expect", "Keep-Alive", "Trailer")
        ),
        *((name, "x") for name in ("", "a b", "a:b", "a\r\nb", "ä", "a\x00", ":authority")),
        *(
            ("X-A", value)
            for value in ("a\r\nHost: evil", "a\nb", "a\rb", "a\x00", "a\x7f", "a\u2028b", "\ud800")
        ),
    ],
)
def test_a_header_that_could_change_the_request_is_refused(name, value):
    with pytest.raises(EgressRefused) as caught:
        check_headers({name: value})
    assert caught.value.reason == "header"


def test_usual_headers_pass_and_users_may_not_forge_our_signatures():
    check_headers({"Authorization": "Bearer a", "X-Service-Signature": "sha256=1", "X-Titel": "Größe\tb"})
    check_custom_headers({"Authorization": "Bearer a", "X-Other": ""})
    for name in ("X-Service-Signature", "x-service-anything", "webhook-id", "Webhook-Signature", "Host"):
        with pytest.raises(EgressRefused):
            check_custom_headers({name: "x"})
