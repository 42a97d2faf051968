"""Several processes: one scrape has the numbers of all, also of those that have ended."""

import asyncio
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from retinue.kit.metrics.declarations import BUDGET_REFUSALS, STREAMS_OPEN
from retinue.kit.metrics.files import close_metrics, open_metrics
from tests.e2e.processes import ServerProcess, free_port, launch_process
from tests.metrics.scrapes import Scrape

TOKEN = "scrape-me"
ROUTE = {"route": "/api/v1/agents", "status": "401"}


def fetch(port: int, path: str = "/metrics", token: str = TOKEN) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


async def ask(port: int, path: str = "/metrics", token: str = TOKEN) -> tuple[int, str]:
    return await asyncio.to_thread(fetch, port, path, token)


async def numbers(port: int) -> Scrape:
    status, text = await ask(port)
    assert status == 200, text
    return Scrape(text)


def has(found: Scrape, name: str) -> bool:
    return any(sample.name == name for sample in found.samples)


async def wait_until_answered(port: int) -> None:
    for _ in range(600):
        if (await ask(port))[0] == 200:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("nobody answers")


@pytest.mark.either_database
@pytest.mark.campaign
async def test_servers_and_workers_that_share_a_data_dir_are_summed(tmp_path: Path) -> None:
    metrics = {"RETINUE_METRICS": "on", "RETINUE_METRICS_TOKEN": TOKEN, "RETINUE_WORKER": "off"}
    async with ServerProcess(tmp_path, **metrics) as one:
        await one.start()
        async with ServerProcess(tmp_path, **metrics) as two:
            await two.start()
            for server, times in ((one, 2), (two, 3)):
                for _ in range(times):
                    assert (await ask(server.port, "/api/v1/agents", ""))[0] == 401
            for server in (one, two):
                found = await numbers(server.port)
                counted = found["retinue_http_requests_total", ROUTE], has(found, "retinue_jobs_waiting")
                assert counted == (5, False)
            port = free_port()
            env = {**one.worker_env, "RETINUE_METRICS_ADDRESS": f"127.0.0.1:{port}"}
            worker = await launch_process(tmp_path / "worker.log", env, "-m", "retinue.cli", "worker")
            await wait_until_answered(port)
            assert [(await ask(port, token=token))[0] for token in ("", "wrong")] == [401, 401]
            assert [(await ask(port, path, ""))[0] for path in ("/health", "/health/live")] == [404, 200]
            while (await ask(port, "/health/ready", token=""))[0] != 200:
                await asyncio.sleep(0.05)
            while not has(found := await numbers(port), "retinue_events_waiting"):
                await asyncio.sleep(0.05)
            assert has(await numbers(one.port), "retinue_jobs_waiting"), "measured by the worker"
            assert found["retinue_http_requests_total", ROUTE] == 5
            memory = found["process_resident_memory_bytes"]
            two.kill()
            await two.ended(10)
            worker.terminate()
            assert await asyncio.wait_for(worker.wait(), 15) == 0, (
                "a worker with an endpoint stops on SIGTERM"
            )
        found = await numbers(one.port)
        totals = found["retinue_http_requests_total", ROUTE], found["retinue_http_requests_in_flight"]
        assert (*totals, has(found, "retinue_jobs_waiting")) == (5, 1, False), (
            "only totals survive their process"
        )
        assert found["process_resident_memory_bytes"] < memory


@pytest.mark.either_database
async def test_a_worker_says_whether_it_works_without_metrics_too(tmp_path: Path) -> None:
    server, port = ServerProcess(tmp_path), free_port()
    env = {**server.worker_env, "RETINUE_METRICS_ADDRESS": f"127.0.0.1:{port}"}
    worker = await launch_process(tmp_path / "worker.log", env, "-m", "retinue.cli", "worker")
    while not (await ask(port))[0]:
        assert worker.returncode is None, (tmp_path / "worker.log").read_text()
        await asyncio.sleep(0.05)
    assert (await ask(port, "/health/live", token=""))[0] == 200
    while (await ask(port, "/health/ready", token=""))[0] != 200:
        await asyncio.sleep(0.05)
    assert (await ask(port))[0] == 404, "metrics are off"
    worker.terminate()
    assert await asyncio.wait_for(worker.wait(), 60) == 0


@pytest.mark.either_database
@pytest.mark.campaign
async def test_a_worker_whose_address_is_taken_says_so_and_ends(tmp_path: Path) -> None:
    async with ServerProcess(tmp_path, RETINUE_METRICS="on") as server:
        await server.start()
        env = {**server.worker_env, "RETINUE_METRICS_ADDRESS": f"127.0.0.1:{server.port}"}
        worker = await launch_process(tmp_path / "worker.log", env, "-m", "retinue.cli", "worker")
        assert await asyncio.wait_for(worker.wait(), 30) != 0
        assert "RETINUE_METRICS_ADDRESS" in (tmp_path / "worker.log").read_text()


def test_the_files_of_an_instance_that_stopped_are_gone(tmp_path: Path) -> None:
    files = open_metrics(tmp_path / "metrics")
    BUDGET_REFUSALS.count(amount=3)
    STREAMS_OPEN.add(2)
    assert Scrape(files.render().decode())["retinue_budget_refusals_total"] == 3
    close_metrics(files)
    assert not list((tmp_path / "metrics").glob("*.db"))
    BUDGET_REFUSALS.count()
    again = open_metrics(tmp_path / "metrics")
    assert Scrape(again.render().decode())["retinue_budget_refusals_total"] == 0
    close_metrics(again)
