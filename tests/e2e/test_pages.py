"""Every command of the README and the guides runs in a real shell, with the real curl and a real server.

The answers must be the ones that the pages print: see `printed` for what `…` stands for.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pyotp
import pytest

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.databases import SERVER
from tests.e2e.printed import difference
from tests.e2e.processes import ADMIN_PASSWORD, ROOT, ServerProcess, drop_database, make_database
from tests.e2e.reader import Reader, Typed, shell_beside, sign_in
from tests.e2e.transcripts import GUIDES, README, Step, commands_outside_sessions, steps_of
from tests.factories.weights import fetch_weights
from tests.pgbouncer import IS_EVERYWHERE

PREAMBLE = "`$BASE`, `$TOKEN` and `pick` are set as in the [README](../../README.md#sign-in)"
START = "make run"
"""The one command that is not typed here: it installs first. `.ci/run` runs it from a clean clone."""
NOT_RUN = {
    "docs/guides/installing.md": (
        "it installs on this machine; scripts/first_chat.py and scripts/image.sh try it"
    ),
    "docs/guides/backup.md": "it needs a cluster",
}
"""Page and reason of every block that the tests leave out."""
TYPED_IN = {"README.md": ["PASSWORD", "CODE"]}
"""The variables that a reader types in, by page."""
SLOW_GUIDES = {"backup", "embedding", "knowledge", "speech", "tenant-as-code"}
SLOW_SECTIONS = {"Let it read", "Let it speak and listen"}
"""They start several servers or keep the embedded models busy, for longer than `make test` has time."""
POSTGRESQL = "PostgreSQL"
"""The section of the page on backups that needs a PostgreSQL server."""
PATIENCE_SECONDS = 30

WITH_COMMANDS = [page for page in GUIDES if steps_of(page)]


def guide(page: Path) -> Any:
    return pytest.param(page, id=page.stem, marks=[pytest.mark.slow] if page.stem in SLOW_GUIDES else [])


@pytest.fixture(scope="module")
async def model_server() -> AsyncIterator[ProviderServer]:
    """The provider of the page on approvals: a model that calls a tool when it is asked to."""
    provider = ProviderServer()
    provider.says("I have to ask.", Call("refund", '{"amount": 120}'))
    async with await asyncio.start_server(provider.serve, "127.0.0.1", 0) as listening:
        provider.port = listening.sockets[0].getsockname()[1]
        yield provider


@pytest.fixture(scope="module")
async def server(
    tmp_path_factory: pytest.TempPathFactory, model_server: ProviderServer
) -> AsyncIterator[ServerProcess]:
    """One instance for all guides, as a reader has one."""
    folder = tmp_path_factory.mktemp("guides")
    # Accounts that wait for approval are what the page on accounts is about; no other page registers anybody.
    settings = {"RETINUE_SIGNUP": "pending", "RETINUE_MODELS_DIR": str(fetch_weights())}
    server = ServerProcess(folder, is_shared=True, **settings)
    async with server:
        await server.start()
        server.env |= {"MODEL_SERVER": f"{model_server.url}/v1", "MODEL": "any-model", "MODEL_KEY": KEY}
        yield server


async def admin_password(_: Reader) -> str:
    return ADMIN_PASSWORD


async def follow_guide(
    page: Path, server: ServerProcess, folder: Path, is_for: Callable[[Step], bool]
) -> None:
    async with shell_beside(server, folder / "clone") as shell:
        reader = Reader(shell, server.port, {"PASSWORD": admin_password})
        await reader.follow(sign_in())
        await reader.follow(step for step in steps_of(page) if is_for(step))


@pytest.mark.either_database
@pytest.mark.parametrize("page", [guide(page) for page in WITH_COMMANDS])
async def test_the_commands_of_a_guide_answer_as_printed(
    page: Path, server: ServerProcess, tmp_path: Path
) -> None:
    await follow_guide(page, server, tmp_path, lambda step: step.section != POSTGRESQL)


@pytest.mark.every_case
async def test_a_backup_of_postgresql_is_restored(tmp_path: Path, database_url: str) -> None:
    if not SERVER:
        pytest.skip("RETINUE_TEST_DATABASE_URL is not set; the commands for PostgreSQL are not run")
    if IS_EVERYWHERE:
        pytest.skip("the commands are those for a server without a pooler before it")
    page = next(page for page in GUIDES if page.stem == "backup")
    server = ServerProcess(tmp_path, database_url)
    server.env["NEW_DATABASE_URL"] = await make_database(SERVER, database_url.rpartition("/")[2] + "_copy")
    async with server:
        await server.start()
        await follow_guide(page, server, tmp_path, lambda step: step.section == POSTGRESQL)
    await drop_database(SERVER, database_url.rpartition("/")[2] + "_copy")


async def wait_for_password(server: ServerProcess) -> None:
    """It answers a moment before it prints."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not re.search(r"shown once\): \S+\n", server.log):
            await asyncio.sleep(0.05)


@pytest.mark.either_database
@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param(SLOW_SECTIONS, id="without-what-is-slow"),
        pytest.param(set(), id="whole", marks=pytest.mark.slow),
    ],
)
async def test_the_readme_is_what_happens(tmp_path: Path, left_out: set[str]) -> None:
    server = ServerProcess(tmp_path, RETINUE_MODELS_DIR=str(fetch_weights()))
    del server.env["RETINUE_ADMIN_PASSWORD"], server.env["RETINUE_LOG_LEVEL"]
    assert left_out <= {step.section for step in steps_of(README)}
    async with server:
        await server.start()
        await wait_for_password(server)
        (start,) = (step for step in steps_of(README) if step.command == START)
        printed = start.printed.replace("8080", str(server.port))
        assert not difference(printed, server.log), server.log
        (password,) = re.findall(r"^Password \(shown once\): (\S+)$", server.log, re.MULTILINE)

        async def printed_password(_: Reader) -> str:
            return str(password)

        async def code_of_the_app(reader: Reader) -> str:
            _, secret = await reader.shell.run('pick secret <<< "$DEVICE"')
            return pyotp.TOTP(secret.strip()).now()

        typed: dict[str, Typed] = {"PASSWORD": printed_password, "CODE": code_of_the_app}
        async with shell_beside(server, tmp_path / "clone") as shell:
            steps = [step for step in steps_of(README) if step.section not in left_out and step is not start]
            await Reader(shell, server.port, typed).follow(steps)
        assert await server.stop() == 0
        await server.start()
        assert server.log.count("Password (shown once)") == 1


@pytest.mark.parametrize("page", [README, *GUIDES], ids=lambda page: page.stem)
def test_a_page_has_no_command_that_nothing_runs(page: Path) -> None:
    assert commands_outside_sessions(page) == []


def test_what_is_not_run_is_known_and_few() -> None:
    steps = [step for page in (README, *GUIDES) for step in steps_of(page)]
    assert {str(step.page.relative_to(ROOT)): step.not_run for step in steps if step.not_run} == NOT_RUN
    typed: dict[str, list[str]] = {}
    for step in steps:
        if step.typed_name:
            typed.setdefault(str(step.page.relative_to(ROOT)), []).append(step.typed_name)
    assert typed == TYPED_IN


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_a_guide_says_what_its_commands_need(page: Path) -> None:
    assert PREAMBLE in page.read_text().replace("\n", " ")


def test_the_address_has_one_name_everywhere() -> None:
    """`$BASE` in the README, the guides, the reference and the decisions."""
    others = re.compile(r"\$\{?(?:RETINUE|HOST|URL|SERVER|API|ADDRESS|BASE_URL)\b\}?/")
    pages = [README, *(ROOT / "docs").rglob("*.md")]
    assert [page.name for page in pages if others.search(page.read_text())] == []


@pytest.mark.parametrize(
    ("printed", "real", "is_same"),
    [
        ('{"a":1}', '{"a": 1}', True),
        ('{"a":1}', '{"a":1,"b":2}', False),
        ('{"a":1,…}', '{"b":2,"a":1}', True),
        ('{…,"a":"x_…"}', '{"a":"x_17","b":2}', True),
        ('{"a":"x_…"}', '{"a":"y_17"}', False),
        ('{"a":…}', '{"a":[1]}', True),
        ('{"a":1.…}', '{"a":1.93}', True),
        ('{"a":1}', '{"a":true}', False),
        ("[1, …]", "[1,2,3]", True),
        ("[1, 2]", "[1,2,3]", False),
        ("[…]", "[]", True),
        ('{"a":1}', "<html>", False),
        ("", '{"error":{"code":"not_found"}}', False),
        ("a …\nc", "a b\nc\n", True),
        ("a\nc", "a\nb\nc", False),
        ("…\nc\n…", "c", True),
        ("…\nc\n…", "a\nb\nc\nd\ne", True),
        ("…\nc", "c\nd", False),
    ],
)
def test_an_answer_is_compared_as_a_reader_would(printed: str, real: str, is_same: bool) -> None:
    assert (difference(printed, real) == "") is is_same
