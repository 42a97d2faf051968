"""Names are looked up once at a time, remembered shortly, and a name server that hangs delays nobody else."""

import asyncio
import socket
import threading
from types import SimpleNamespace

import pytest

from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, SystemResolver
from retinue.kit.egress import system_resolver as limits
from retinue.kit.logging import current_request
from tests.kit.egress_listener import listening, reply

OPEN = ("127.0.0.2/32", "127.0.0.3/32")


class NameServer:
    """Answers from a table; names that begin with `slow` hang until they are released."""

    def __init__(self, **addresses: str) -> None:
        self.addresses = {name.replace("_", "."): address for name, address in addresses.items()}
        self.asked: list[str] = []
        self.released = threading.Event()
        self.now = 0.0

    def look_up(self, host: str) -> tuple[str, ...]:
        self.asked.append(host)
        if host.startswith("slow"):
            self.released.wait(10)
        if host not in self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return tuple(self.addresses[host].split(","))

    def resolver(self) -> SystemResolver:
        return SystemResolver(self.look_up, lambda: self.now)


@pytest.fixture
def names():
    server = NameServer(api_example="127.0.0.2", other_example="127.0.0.3")
    yield server
    server.released.set()


async def call(egress, url, **options):
    async with egress.request("GET", url, timeout_s=5, **options) as response:
        return response.status, await response.read()


async def resolve_as(tenant_id, resolver, host):
    """Resolve a name in a task of its own, on behalf of a tenant."""
    current_request.set(SimpleNamespace(principal=SimpleNamespace(tenant_id=tenant_id)))
    return await resolver.resolve(host)


def start_lookups(tenant_id, resolver, *hosts):
    return [asyncio.create_task(resolve_as(tenant_id, resolver, host)) for host in hosts]


async def wait_for_questions(names, count):
    async with asyncio.timeout(5):
        while len(names.asked) < count:
            await asyncio.sleep(0.001)


async def test_the_system_knows_localhost_and_does_not_know_what_nobody_knows():
    resolver = SystemResolver()
    assert {"127.0.0.1", "::1"} >= set(await resolver.resolve("localhost")) != set()
    assert limits.look_up("127.0.0.1") == ("127.0.0.1",)
    assert await SystemResolver(NameServer().look_up).resolve("unknown.invalid") == ()


async def test_a_hundred_calls_at_once_ask_once(names):
    resolver = names.resolver()
    answers = await asyncio.gather(*(resolver.resolve("api.example") for _ in range(100)))
    assert (set(answers), names.asked) == ({("127.0.0.2",)}, ["api.example"])


@pytest.mark.parametrize(("host", "valid_s"), [("api.example", 10), ("unknown.example", 1)])
async def test_an_answer_is_remembered_for_seconds(names, host, valid_s):
    resolver = names.resolver()
    for names.now in (0.0, valid_s - 0.1, valid_s + 0.1):
        await resolver.resolve(host)
    assert names.asked == [host] * 2


async def test_the_oldest_answers_are_dropped_when_there_are_too_many(names, monkeypatch):
    monkeypatch.setattr(limits, "_MAX_CACHED_NAMES", 2)
    resolver = names.resolver()
    for host in ("api.example", "other.example", "unknown.example", "other.example", "api.example"):
        await resolver.resolve(host)
    assert names.asked == ["api.example", "other.example", "unknown.example", "api.example"]


async def test_a_remembered_look_up_is_checked_each_time_it_is_used(names, monkeypatch):
    async with (
        Egress(OPEN, resolver=names.resolver()) as egress,
        listening(reply(Connection="close"), "127.0.0.2") as server,
    ):
        url = f"http://api.example:{server.port}/"
        assert await call(egress, url) == (200, b"ok")
        # The same answer from the cache, but the address may not be called any more.
        monkeypatch.setattr(egress._allow, "covers", lambda _address, _port: False)
        with pytest.raises(EgressRefused):
            await call(egress, url)
        assert (names.asked, server.connections) == (["api.example"], 1)


async def test_a_look_up_is_forgotten_when_its_address_takes_no_connection(names):
    async with Egress(OPEN, resolver=names.resolver()) as egress, listening(address="127.0.0.3") as server:
        url = f"http://api.example:{server.port}/"
        with pytest.raises(EgressFailed):
            await call(egress, url)
        names.addresses["api.example"] = "127.0.0.3"
        assert await call(egress, url) == (200, b"ok")


async def test_names_that_hang_end_in_time_and_delay_no_other_tenant(names):
    resolver = names.resolver()
    hanging = start_lookups("ten_a", resolver, *(f"slow{number}.example" for number in range(100)))
    await wait_for_questions(names, limits.MAX_LOOKUPS_PER_TENANT)
    async with asyncio.timeout(5):
        assert await asyncio.gather(*start_lookups("ten_b", resolver, "api.example")) == [("127.0.0.2",)]
    assert len(names.asked) == limits.MAX_LOOKUPS_PER_TENANT + 1
    async with Egress(OPEN, resolver=resolver) as egress:
        with pytest.raises(EgressTimeout, match="resolved in time"):
            await call(egress, "http://slow0.example/", connect_timeout_s=0.05)
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    # Nobody waits for the queued ones any more, so they are never asked for.
    names.released.set()
    await asyncio.gather(*start_lookups("ten_a", resolver, "other.example"))
    assert len(names.asked) == limits.MAX_LOOKUPS_PER_TENANT + 2


async def test_a_name_that_one_tenant_queued_is_looked_up_for_the_next_who_asks(names):
    resolver = names.resolver()
    hosts = [f"slow{number}.example" for number in range(limits.MAX_LOOKUPS_PER_TENANT)]
    hanging = start_lookups("ten_a", resolver, *hosts, "api.example")
    await wait_for_questions(names, len(hosts))
    async with asyncio.timeout(5):
        assert await asyncio.gather(*start_lookups("ten_b", resolver, "api.example")) == [("127.0.0.2",)]
        assert await hanging[-1] == ("127.0.0.2",)
    names.released.set()
    await asyncio.gather(*hanging)
    assert sorted(names.asked) == ["api.example", *hosts]


async def test_names_that_hang_do_not_delay_the_tenants_own_names_that_were_resolved_before(names):
    resolver = names.resolver()
    await asyncio.gather(*start_lookups("ten_a", resolver, "api.example"))
    slow_hosts = [f"slow{number}.example" for number in range(20)]
    hanging = start_lookups("ten_a", resolver, *slow_hosts, "other.example")
    await wait_for_questions(names, 1 + limits.MAX_LOOKUPS_PER_TENANT)
    names.now = 60.0
    async with asyncio.timeout(5):
        assert await asyncio.gather(*start_lookups("ten_a", resolver, "api.example")) == [("127.0.0.2",)]
    assert not hanging[-1].done()
    assert len(names.asked) == 2 + limits.MAX_LOOKUPS_PER_TENANT
    names.released.set()
    await asyncio.gather(*hanging)


async def test_when_all_threads_hang_the_next_free_one_goes_to_the_tenant_with_the_fewest(names, monkeypatch):
    monkeypatch.setattr(limits, "MAX_LOOKUPS", 4)
    resolver = names.resolver()
    hanging = start_lookups("ten_a", resolver, *(f"slow{number}.example" for number in range(8)))
    await wait_for_questions(names, 4)
    quick = start_lookups("ten_b", resolver, "api.example")
    await asyncio.sleep(0)
    assert len(names.asked) == 4
    names.released.set()
    await asyncio.gather(*hanging, *quick)
    assert names.asked[4] == "api.example"


async def test_threads_end_with_their_look_ups(names):
    def threads():
        return [thread for thread in threading.enumerate() if thread.name == "look-up slowest.example"]

    hanging = start_lookups("ten_a", names.resolver(), "slowest.example")
    await wait_for_questions(names, 1)
    assert len(threads()) == 1
    names.released.set()
    await asyncio.gather(*hanging)
    async with asyncio.timeout(5):
        while threads():
            await asyncio.sleep(0.001)


async def test_a_look_up_waits_while_no_thread_can_be_started(names, monkeypatch):
    resolver = names.resolver()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", lambda _thread: (_ for _ in ()).throw(RuntimeError))
        waiting = start_lookups("ten_a", resolver, "api.example")
        await asyncio.sleep(0)
        assert names.asked == []
    assert await resolver.resolve("other.example") == ("127.0.0.3",)
    assert await asyncio.gather(*waiting) == [("127.0.0.2",)]
