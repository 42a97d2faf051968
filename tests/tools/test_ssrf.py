"""No feature that calls out reaches an address it must not, however it is written, redirected or resolved."""

import itertools
import re

import msgspec
import pytest

from retinue.credentials import connection_test
from retinue.credentials.destinations import origin_of
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.sealed_secrets import sealed_columns
from retinue.kit.crypto import Sealed
from retinue.kit.egress import Egress, Resolver
from retinue.kit.errors import Invalid
from retinue.kit.secrets import Secret
from retinue.providers import key_check
from retinue.providers.models import ProviderKey, ProviderName
from retinue.tools.config.configuration import destination_of
from retinue.tools.models import AuthType, Tool, ToolType
from retinue.tools.run.execute import execute
from tests.factories.people import People
from tests.kit.proxy_server import proxying
from tests.tools.servers.canary import canary as canary_listening
from tests.tools.servers.rest_api import rest_api
from tests.tools.ssrf_corpus import HOSTS, urls

pytestmark = pytest.mark.either_database

PUBLIC = "https://retinue.example"
REFUSALS = {"ssrf_blocked", "not_configured"}
ENDPOINTS = {"only": {"path": "/x/{id}"}}
SECRET = "tok-4711-must-not-leave"


def tool(tool_type, config, auth_type="none", auth_config=None):
    """A tool nobody has checked and nothing has stored."""
    return Tool(
        id="tool_ssrf",
        name="Outgoing",
        slug="outgoing",
        category="custom",
        tool_type=ToolType(tool_type),
        config=config,
        auth_type=AuthType(auth_type),
        auth_config=Sealed.of(msgspec.json.encode(auth_config)) if auth_config else None,
        auth_destination=destination_of(ToolType(tool_type), config) if auth_config else "",
        pinned_packages=[],
        created_by="",
    )


async def error_of_run(ctx, made, input=None, override=None):
    """Run a tool; return the code of its error, if any."""
    finished = await execute(ctx, made, input or {}, override=override)
    return finished.error.code if finished.error else ""


async def error_of_test(ctx, type, secrets, metadata=None):
    """Test a credential; return the code of its error, if any."""
    metadata = metadata or {}
    credential = Credential(
        name="Outgoing",
        type=CredentialType(type),
        metadata=metadata,
        destinations=[origin_of(url) for url in metadata.values()],
        created_by="",
        entered_by="",
        **sealed_columns(secrets),
    )
    async with ctx.unit() as unit:
        stored = await unit.db.insert(credential)
    result = await connection_test.run_test(ctx, stored)
    return result.error.code if result.error else ""


async def rest_api_tool(ctx, url):
    return await error_of_run(ctx, tool("rest_api", {"base_url": url, "endpoints": ENDPOINTS}), {"id": 1})


async def overridden_tool(ctx, url):
    made = tool("rest_api", {"base_url": "https://api.example", "endpoints": ENDPOINTS})
    return await error_of_run(ctx, made, {"id": 1}, override={"base_url": url})


async def webhook_tool(ctx, url):
    return await error_of_run(ctx, tool("webhook", {"url": url, "method": "GET"}))


async def template_tool(ctx, url):
    return await error_of_run(ctx, tool("custom", {"kind": "http_template", "request": {"url": url}}))


async def mcp_tool(ctx, url):
    return await error_of_run(ctx, tool("custom", {"kind": "mcp", "server_url": url, "tool_name": "x"}))


async def oauth_tool(ctx, url):
    config = {"url": "https://api.example/"}
    client = {"token_url": url, "client_id": "c", "client_secret": SECRET}
    return await error_of_run(ctx, tool("webhook", config, "oauth2", client))


async def credential_url(ctx, url):
    return await error_of_test(ctx, "bearer_token", {"token": SECRET}, {"test_url": url})


async def credential_token_url(ctx, url):
    return await error_of_test(ctx, "oauth2", {"client_id": "c", "client_secret": SECRET, "token_url": url})


async def provider_key(ctx, url):
    key = ProviderKey(
        id="pak_ssrf",
        provider=ProviderName.openai_compatible,
        name="Outgoing",
        api_key=Sealed.of(SECRET),
        base_url=url,
        key_destination=origin_of(url),
        found_models=[],
        created_by="",
    )
    try:
        result = await key_check.check_key(ctx, key)
    except Invalid:
        return "not_configured"
    refusal = re.match(
        "The destination is not allowed|The URL|The host|The port|Port |Brackets must", result.message
    )
    return "" if result.success else "ssrf_blocked" if refusal else result.message


async def postgresql_tool(ctx, host, port):
    return await error_of_run(ctx, database_tool("postgresql", host, port), {"query": "SELECT 1"})


async def mysql_tool(ctx, host, port):
    return await error_of_run(ctx, database_tool("mysql", host, port), {"query": "SELECT 1"})


def database_tool(db_type, host, port):
    config = {"db_type": db_type, "host": host, "port": port, "database": "x"}
    return tool("database", config, "basic", {"username": "u", "password": SECRET})


async def database_login(ctx, host, port):
    return await error_of_test(
        ctx, "database", {"host": host, "port": port, "username": "u", "password": SECRET}
    )


async def ssh_login(ctx, host, port):
    return await error_of_test(ctx, "ssh", {"host": host, "port": port, "username": "u", "password": SECRET})


async def smtp_login(ctx, host, port):
    return await error_of_test(ctx, "smtp", {"host": host, "port": port, "username": "u", "password": SECRET})


BY_URL = [
    rest_api_tool,
    overridden_tool,
    webhook_tool,
    template_tool,
    mcp_tool,
    oauth_tool,
    credential_url,
    credential_token_url,
    provider_key,
]
BY_HOST = [postgresql_tool, mysql_tool, database_login, ssh_login, smtp_login]


@pytest.fixture
async def canary():
    async with canary_listening() as waiting:
        yield waiting


@pytest.fixture
def public(make_service):
    """Opens an instance with a public address; the context of someone in it."""

    async def make(**settings):
        service = await make_service(base_url=PUBLIC, **settings)
        people = People(service)
        return people.context((await people.default_tenant()).id)

    return make


def test_the_corpus_is_large_enough():
    assert len(urls(1)) >= 120
    assert len(HOSTS) >= 90


@pytest.mark.parametrize("feature", BY_URL)
async def test_no_url_leads_inside(public, canary, feature):
    ctx = await public()
    ended = {url: await feature(ctx, url) for url in urls(canary.port)}
    assert {url: code for url, code in ended.items() if code not in REFUSALS} == {}
    assert canary.connections == 0


@pytest.mark.parametrize("feature", BY_HOST)
async def test_no_host_leads_inside(public, canary, feature):
    ctx = await public()
    ended = {host: await feature(ctx, host, canary.port) for host in HOSTS}
    assert {host: code for host, code in ended.items() if code not in REFUSALS} == {}
    assert canary.connections == 0


@pytest.mark.parametrize("feature", [*BY_URL, *BY_HOST])
async def test_each_feature_would_reach_the_canary_if_it_were_allowed(public, canary, feature):
    ctx = await public(egress_allow=("127.0.0.1",))
    if feature in BY_URL:
        await feature(ctx, f"http://127.0.0.1:{canary.port}/")
    else:
        await feature(ctx, "127.0.0.1", canary.port)
    assert canary.connections > 0


async def test_no_parameter_leads_inside(public, canary):
    ctx = await public(egress_allow=("127.0.0.2",))
    async with rest_api("127.0.0.2") as remote:
        made = tool("rest_api", {"base_url": remote.url, "endpoints": ENDPOINTS, "follow_redirects": True})
        for url in urls(canary.port):
            assert await error_of_run(ctx, made, {"path_params": {"id": url}, "query": {"next": url}}) == ""
        assert {seen.headers["Host"] for seen in remote.seen} == {remote.url.removeprefix("http://")}
        assert all(seen.target.startswith("/x/") for seen in remote.seen)
    assert canary.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_leads_inside(public, canary, status):
    ctx = await public(egress_allow=("127.0.0.2",))
    async with rest_api("127.0.0.2") as remote:
        here = f"{remote.url}/scripted"
        follow = {"follow_redirects": True}
        rest = {"base_url": remote.url, "endpoints": {"only": {"path": "/scripted"}}, **follow}
        followers = itertools.cycle(
            [
                tool("rest_api", rest),
                tool("webhook", {"url": here, **follow}),
                tool("custom", {"kind": "http_template", "request": {"url": here}, **follow}),
            ]
        )
        targets = [url for url in urls(canary.port) if url.isascii() and url.isprintable()]
        for target in targets:
            remote.answers = [(status, {"Location": target}, b"")]
            code = await error_of_run(ctx, next(followers))
            assert code in {"ssrf_blocked", ""}, target
    assert canary.connections == 0


@pytest.mark.parametrize("feature", BY_URL)
async def test_a_redirect_is_not_followed_unasked(public, canary, feature):
    ctx = await public(egress_allow=("127.0.0.2",))
    async with rest_api("127.0.0.2") as remote:
        for status in (301, 302, 303, 307, 308):
            remote.answers = [(status, {"Location": f"http://127.0.0.1:{canary.port}/"}, b"")] * 3
            assert await feature(ctx, f"{remote.url}/scripted") != ""
        assert remote.seen
    assert canary.connections == 0


REBOUND = [
    ["127.0.0.2"],
    ["127.0.0.1"],
    ["127.0.0.2", "127.0.0.1"],
    ["127.0.0.2", "::1"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["0.0.0.0"],
    ["169.254.169.254"],
]


class Rebinding(Resolver):
    """Another address at each question, among them one that is allowed."""

    def __init__(self):
        self._answers = itertools.cycle(REBOUND)
        self.asked = 0

    async def resolve(self, host):
        self.asked += 1
        return next(self._answers)


@pytest.mark.parametrize("feature", [*BY_URL, *BY_HOST])
async def test_no_name_leads_inside_by_changing_its_address(public, canary, feature):
    ctx = await public(egress_allow=("127.0.0.2",))
    resolver = ctx.adapter(Egress)._connector.resolver = Rebinding()
    calls = 100 if feature is rest_api_tool else 2 * len(REBOUND)
    async with canary_listening("127.0.0.2", port=canary.port) as allowed:
        for _ in range(calls):
            if feature in BY_URL:
                await feature(ctx, f"https://rebound.example:{canary.port}/")
            else:
                await feature(ctx, "rebound.example", canary.port)
    assert resolver.asked >= calls
    assert allowed.connections > 0
    assert canary.connections == 0


@pytest.mark.parametrize("feature", [rest_api_tool, provider_key])
async def test_no_url_and_no_changing_name_leads_inside_through_a_proxy(public, canary, feature):
    async with proxying() as proxy:
        url = Secret(proxy.url)
        ctx = await public(egress_allow=("127.0.0.2",), https_proxy=url, http_proxy=url)
        resolver = ctx.adapter(Egress)._connector.resolver = Rebinding()
        for _ in range(2 * len(REBOUND)):
            await feature(ctx, f"https://rebound.example:{canary.port}/")
        assert resolver.asked >= 2 * len(REBOUND)
        assert set(proxy.targets) == {f"127.0.0.2:{canary.port}"}
        ended = {url: await feature(ctx, url) for url in urls(canary.port)}
        assert {url: code for url, code in ended.items() if code not in REFUSALS} == {}
        assert set(proxy.targets) == {f"127.0.0.2:{canary.port}"}
    assert canary.connections == 0
