"""Tests of the limits of anonymous requests: each address pays for itself, whatever headers it sends."""

import pytest

from retinue.domains import DOMAINS
from tests.client import Api
from tests.kit.planted import ANYONE, Exchange

pytestmark = pytest.mark.either_database

PROXY = "10.0.0.1"
CLAIMED = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP", "Client-IP")


@pytest.fixture
async def service(make_service, planted):
    return await make_service(
        manifests=(*DOMAINS, planted.manifest),
        burst=False,
        default_plan="free",
        trusted_proxies=("10.0.0.0/8", "2001:db8:ffff::/48"),
    )


@pytest.fixture
def behind_proxy(service) -> Api:
    """Somebody behind the trusted proxy."""
    return Api(service, ip=PROXY)


async def count_admitted(api: Api, number: int, headers=lambda _: {}) -> int:
    statuses = [(await api.get(ANYONE, headers=headers(count))).status for count in range(number)]
    assert set(statuses) <= {200, 429}
    return statuses.count(200)


async def read_remaining(api: Api, **headers: str) -> int:
    return int((await api.get(ANYONE, headers=headers)).headers["x-ratelimit-remaining"])


async def test_anonymous_callers_have_the_default_plan_each_address_for_itself(api):
    assert await count_admitted(api, 70) == 60
    assert await count_admitted(api.at("203.0.113.8"), 1) == 1


async def test_a_tenants_people_are_not_charged_for_their_neighbours_at_an_address(api, people):
    me = await people.signed_in()
    await count_admitted(api, 70)
    assert (await me.get("/planted/read")).status == 200
    refused = await me.get(ANYONE)
    assert refused.status == 429, "an open route is the address's, whoever calls"
    assert refused.headers["x-ratelimit-scope"] == "address"


@pytest.mark.parametrize("token", ["", "garbage", "a.b.c", "emb_aaaaaaaaaaaaaaaaaaaaaaaaaa"])
async def test_a_bad_token_is_charged_to_the_address_it_came_from(api, people, token):
    me = await people.signed_in()
    stranger = api.signed_in(token).at("203.0.113.99")
    statuses = [(await stranger.get("/planted/read")).status for _ in range(65)]
    assert statuses == [401] * 60 + [429] * 5
    assert (await stranger.get(ANYONE)).status == 429
    assert (await me.at("203.0.113.99").get("/planted/read")).status == 200


async def test_an_ended_session_is_charged_to_its_address_and_not_to_its_tenant(people):
    me = await people.signed_in()
    await me.post("/auth/logout")
    far = me.at("203.0.113.99")
    assert [(await far.get("/planted/read")).status for _ in range(61)] == [401] * 60 + [429]


async def test_paths_that_lead_nowhere_cost_their_address_what_their_method_costs(api):
    for method, path, left in (
        ("GET", "/nowhere", 59),
        ("GET", f"/{ANYONE}", 58),
        ("GET", f"/.{ANYONE}", 57),
        ("GET", f"{ANYONE}/", 56),
        ("GET", ANYONE.upper(), 55),
        ("GET", f"{ANYONE};x", 54),
        ("HEAD", "/nowhere", 53),
        ("POST", "/nowhere", 51),
        ("DELETE", "/nowhere", 49),
        ("DELETE", ANYONE, 47),
        ("BREW", "/nowhere", 46),
        ("OPTIONS", "/nowhere", 46),
        ("OPTIONS", ANYONE, 46),
    ):
        answer = await api.request(method, path)
        assert int(answer.headers["x-ratelimit-remaining"]) == left, (method, path)
    assert await count_admitted(api, 50) == 46


async def test_a_header_that_overrides_the_method_or_the_path_changes_no_cost(api):
    overriding = {"X-HTTP-Method-Override": "GET", "X-Original-URL": "/health", "X-Rewrite-URL": "/health"}
    answer = await api.post(f"{ANYONE}/draws", {"name": "a"}, headers=overriding)
    assert (answer.status, answer.headers["x-ratelimit-remaining"]) == (201, "58")


async def test_a_thousand_claimed_addresses_of_a_stranger_are_one(api):
    claimed = lambda count: dict.fromkeys(CLAIMED, f"198.51.{count // 250}.{count % 250}")  # noqa: E731
    assert await count_admitted(api, 1_000, claimed) == 60


async def test_a_thousand_addresses_claimed_through_the_proxy_are_one(behind_proxy):
    """The proxy appends whom it sees; what stands to the left of that is anybody's invention."""
    forwarded = lambda count: {"X-Forwarded-For": f"10.1.{count // 250}.{count % 250}, 198.51.100.7"}  # noqa: E731
    assert await count_admitted(behind_proxy, 1_000, forwarded) == 60
    assert await count_admitted(behind_proxy, 1, lambda _: {"X-Forwarded-For": "198.51.100.8"}) == 1


async def test_other_headers_name_nobody_even_through_the_proxy(behind_proxy):
    named = lambda count: dict.fromkeys(CLAIMED[1:], f"198.51.100.{count}")  # noqa: E731
    assert await count_admitted(behind_proxy, 70, named) == 60


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("6.6.6.6, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("6.6.6.6, 198.51.100.7 ,10.0.0.3,10.0.0.2", "198.51.100.7"),
        ("198.51.100.7, 2001:db8:ffff::1", "198.51.100.7"),
        ("10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("2001:db8::7", "2001:db8::7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, ::ffff:10.0.0.2", "198.51.100.7"),
        ("198.51.100.7, unknown", PROXY),
        ("", PROXY),
        (",,,", PROXY),
        ("\u00e9\u00fc", PROXY),
        ("198.51.100.7, 999.1.1.1", PROXY),
    ],
)
async def test_the_right_most_hop_that_no_proxy_of_ours_vouches_for_is_the_caller(
    behind_proxy, forwarded, address
):
    answer = await behind_proxy.get(ANYONE, headers={"X-Forwarded-For": forwarded})
    assert answer.json() == {"message": address}


async def test_a_header_line_of_each_proxy_counts_like_one_line_of_all(service):
    lines = [("Host", "x"), ("X-Forwarded-For", "6.6.6.6, 198.51.100.7"), ("X-Forwarded-For", "10.0.0.2")]
    exchange = Exchange(service, "GET", ANYONE, lines, ip=PROXY)
    exchange.send(b"", more=False)
    assert (await exchange.answer()).json() == {"message": "198.51.100.7"}


async def test_a_peer_that_is_no_proxy_is_itself_whatever_it_forwards(api):
    answer = await api.get(ANYONE, headers={"X-Forwarded-For": "198.51.100.7"})
    assert answer.json() == {"message": api.ip}


async def test_an_ipv6_host_is_its_whole_network_of_64_bits(service):
    statuses = [
        (await Api(service, ip=f"2001:db8:0:1:{count:x}::{count:x}").get(ANYONE)).status
        for count in range(61)
    ]
    assert statuses == [200] * 60 + [429]
    assert (await Api(service, ip="2001:db8:0:2::1").get(ANYONE)).status == 200


async def test_an_ipv4_address_written_as_ipv6_is_the_same_address_and_nobody_elses(service):
    assert await read_remaining(Api(service, ip="198.51.100.7")) == 59
    assert await read_remaining(Api(service, ip="::ffff:198.51.100.7")) == 58
    assert await read_remaining(Api(service, ip="::ffff:198.51.100.8")) == 59
