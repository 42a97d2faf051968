"""A tenant as a file: the whole command on a database of its own, once as a process and else in this one."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from retinue.cli import app
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from tests.e2e.clustered import ClusteredServer
from tests.e2e.commands import run_command
from tests.e2e.conftest import Serving
from tests.e2e.processes import ServerProcess

pytestmark = pytest.mark.either_database

Run = Callable[..., str]

FILE = """
retinue: 1
data_tables:
  orders:
    name: Orders
    columns:
    - {name: number, type: integer, required: true, unique: true}
    - {name: customer, type: reference, table: "@data_tables/customers"}
  customers:
    name: Customers
    columns:
    - {name: email, type: email, indexed: true}
tools:
  weather:
    name: Weather
    category: custom
    tool_type: rest_api
    config: {base_url: "https://weather.example", endpoints: {get: {method: GET, path: /now}}}
agents:
  Support:
    primary_model: local/any
    system_prompt: |
      You help.
      Be brief.
    status: published
    tools:
    - {tool: "@tools/weather", config_override: {base_url: "https://other.example"}}
    sub_agents:
    - agent: "@agents/Expert"
      delegation_prompt: Whatever is hard.
    - name: Translator
      direct: {primary_model: local/any, system_prompt: You translate.}
  Expert:
    primary_model: local/any
    system_prompt: You know.
    output_schema: {type: object, properties: {answer: {type: string}}}
    log_settings: {retention_days: 7}
workflows:
  Greeting:
    nodes:
    - {id: ask, type: agent, config: {agent_id: "@agents/Support", message: Hello}}
forms:
  Order:
    status: published
    fields:
    - {id: email, type: email, label: E-mail, required: true}
    - {id: customer, type: select, data_source: {table_id: "@data_tables/customers", value_column: email}}
    settings: {success_message: "Thank you.", conversational: {agent_id: "@agents/Support"}}
    workflow: "@workflows/Greeting"
    data_table: {table: "@data_tables/customers", auto_save: true, field_mapping: {email: email}}
"""


@pytest.fixture
async def beside(serving: Serving) -> AsyncIterator[ServerProcess]:
    """The server whose settings the commands have; one that is several processes runs beside them."""
    async with serving() as server:
        if isinstance(server, ClusteredServer):
            await server.start()
        yield server


@pytest.fixture
def run(beside: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """`run("export")` is what the command prints, or with `fails` what it says of its failure."""
    for name, value in beside.env.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, fails: bool = False) -> str:
        ran = CliRunner().invoke(app, arguments)
        assert ran.exit_code == int(fails), ran.output
        return ran.stderr if fails else ran.stdout

    run("admin", "create", "someone@example.com", "--password", "Correct-Horse-9")
    yield run
    configure_logging(Settings(log_format="json"))


def test_what_is_exported_is_what_was_applied(tmp_path: Path, run: Run) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(FILE)
    planned = run("apply", str(first))
    assert "+ agents/Support" in planned
    assert "7 to create, 0 to change, 0 to delete" in planned
    assert "Nothing was changed yet" in planned
    assert "agents: {}" in run("export")
    assert "Done." in run("apply", str(first), "--yes")

    exported = run("export")
    second.write_text(exported)
    assert "You help.\n      Be brief.\n" in exported
    assert "'@agents/Support'" in exported
    assert not any(prefix in exported for prefix in ("agt_", "tbl_", "wfl_", "frm_"))
    assert "workflow: '@workflows/Greeting'" in exported
    assert "table: '@data_tables/customers'" in exported
    assert "0 to create, 0 to change, 0 to delete" in run("apply", str(second), "--yes")
    assert run("export") == exported
    second.write_text(run("export", "--format", "json"))
    assert "0 to create, 0 to change, 0 to delete" in run("apply", str(second))

    changed = exported.replace("Be brief.", "Be kind.").replace("name: Weather", "name: The weather")
    changed = changed.replace("success_message: Thank you.", "success_message: Thanks.")
    changed = changed.replace("  Expert:\n", "  Master:\n").replace("@agents/Expert", "@agents/Master")
    second.write_text(changed)
    done = run("apply", str(second), "--yes")
    assert "+ agents/Master" in done
    assert "- agents/Expert" in done
    assert '    name: "Weather" -> "The weather"' in done
    assert '    settings.success_message: "Thank you." -> "Thanks."' in done
    assert _sorted(run("export")) == _sorted(changed)


def _sorted(text: str) -> list[str]:
    """Its lines in any order: what got another name stands elsewhere now."""
    return sorted(text.splitlines())


def test_a_file_that_cannot_be_applied_changes_nothing(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "file.yaml"
    for text, problem in (
        ("retinue: 2", "retinue: must be 1"),
        ("retinue: 1\nrobots: {}", "robots: is not a known field"),
        ("retinue: 1\nagents:\n  A: {primary_model: m}", "agents"),
        (
            FILE.replace("status: published\n    tools", "status: moon\n    tools"),
            "agents/Support: status: must be one of draft",
        ),
        (
            FILE.replace("status: published\n    fields", "status: moon\n    fields"),
            "forms/Order: status: must be one of draft",
        ),
        (
            FILE.replace("Expert:\n    primary_model: local/any", "Expert:\n    primary_model: ''"),
            "agents/Expert: primary_model: must",
        ),
        (FILE.replace("indexed:", "indxed:"), "data_tables.customers.columns.0.indxed: is not a known field"),
        (
            FILE.replace("@tools/weather", "@tools/none"),
            "agents/Support: tools.0.tool: @tools/none does not exist",
        ),
        (FILE.replace("type: email, indexed", "type: moon, indexed"), "data_tables/customers: columns.email"),
        (
            FILE.replace("@workflows/Greeting", "@workflows/None"),
            "forms/Order: workflow: @workflows/None does not exist",
        ),
        (FILE.replace("type: select, data", "type: moon, data"), "forms/Order: fields.1.type"),
        (FILE.replace('agent: "@agents/Expert"', 'agent: "@agents/Support"'), "agents/Support"),
    ):
        file.write_text(text)
        said = run("apply", str(file), "--yes", fails=True)
        assert problem in said
        assert "nothing was changed" in said
    assert run("export").splitlines()[1:] == [
        "data_tables: {}",
        "tools: {}",
        "agents: {}",
        "workflows: {}",
        "forms: {}",
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("run")
async def test_the_command_as_a_process(beside: ServerProcess) -> None:
    """The same from outside, where nothing of this process helps it."""
    ran = await run_command(beside, "export", "--tenant", "nobody")
    assert (ran.code, ran.output) == (2, "")
    assert "choose one with --tenant" in ran.errors
