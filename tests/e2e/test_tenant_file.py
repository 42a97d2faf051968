"""A tenant as a file: the whole command on a database of its own, once as a process and else in this one."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from retinue.cli import app
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.tenant_file.document import SECTION_NAMES
from tests.e2e.clustered import ClusteredServer
from tests.e2e.commands import run_command
from tests.e2e.conftest import Serving
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess

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


CONNECTED = """
retinue: 1
notification_channels:
  Mail: {type: email, provider: sendgrid, config: {from_email: desk@example.com}, own_secrets: true}
webhooks:
  Orders: {url: "https://erp.example/orders", events: [form.*], headers: [X-Key], own_secrets: true}
incoming_webhooks:
  Shop: {verification: {type: github}, own_secrets: true}
subscriptions:
  Tell:
    event_type: agent.created
    action_type: notification
    action_config: {channel_id: "@notification_channels/Mail"}
budgets:
  All: {limit_usd: 500}
trace_exporters:
  Tempo: {endpoint: "https://tempo.example"}
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
    """Returns a function that runs the command; with `fails` it returns the error output."""
    for name, value in beside.env.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, fails: bool = False, code: int = 0) -> str:
        ran = CliRunner().invoke(app, arguments)
        assert ran.exit_code == (1 if fails else code), (ran.output, ran.exception)
        return ran.stderr if fails else ran.stdout

    run("admin", "create", "someone@example.com", "--password", "Correct-Horse-9")
    yield run
    configure_logging(Settings(log_format="json"))


def apply_and_export(tmp_path: Path, run: Run) -> str:
    """Apply the file to the empty tenant, and return what is exported then."""
    file = tmp_path / "first.yaml"
    file.write_text(FILE)
    assert "Done." in run("apply", str(file), "--yes")
    return run("export")


def test_a_plan_is_shown_before_anything_is_applied(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "first.yaml"
    file.write_text(FILE)
    planned = run("apply", str(file))
    assert "+ agents/Support" in planned
    assert "7 to create, 0 to change, 0 to delete" in planned
    assert "Nothing was changed yet" in planned
    assert "agents: {}" in run("export")


def test_what_is_exported_is_what_was_applied(tmp_path: Path, run: Run) -> None:
    exported = apply_and_export(tmp_path, run)
    assert "You help.\n      Be brief.\n" in exported
    assert "'@agents/Support'" in exported
    assert not any(prefix in exported for prefix in ("agt_", "tbl_", "wfl_", "frm_"))
    assert "workflow: '@workflows/Greeting'" in exported
    assert "table: '@data_tables/customers'" in exported
    second = tmp_path / "second.yaml"
    second.write_text(exported)
    assert "0 to create, 0 to change, 0 to delete" in run("apply", str(second), "--yes")
    assert run("export") == exported
    second.write_text(run("export", "--format", "json"))
    assert "0 to create, 0 to change, 0 to delete" in run("apply", str(second))


def test_what_was_edited_in_an_export_is_applied(tmp_path: Path, run: Run) -> None:
    exported = apply_and_export(tmp_path, run)
    changed = exported.replace("Be brief.", "Be kind.").replace("name: Weather", "name: The weather")
    changed = changed.replace("success_message: Thank you.", "success_message: Thanks.")
    changed = changed.replace("  Expert:\n", "  Master:\n").replace("@agents/Expert", "@agents/Master")
    second = tmp_path / "second.yaml"
    second.write_text(changed)
    done = run("apply", str(second), "--yes")
    assert "+ agents/Master" in done
    assert "- agents/Expert" in done
    assert '    name: "Weather" -> "The weather"' in done
    assert '    settings.success_message: "Thank you." -> "Thanks."' in done
    assert _sorted(run("export")) == _sorted(changed)


def test_a_plan_says_by_its_exit_code_whether_the_tenant_differs(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(CONNECTED)
    planned = run("plan", str(file), code=2)
    assert "+ webhooks/Orders" in planned
    assert "6 to create, 0 to change, 0 to delete" in planned
    applied = run("apply", str(file), "--yes")
    assert "webhooks/Orders: enter the values of its headers in this tenant." in applied
    assert "0 to create, 0 to change, 0 to delete" in run("plan", str(file))
    exported = run("export", "--sections", "webhooks,budgets")
    assert [line for line in exported.splitlines() if not line.startswith(" ")] == [
        "retinue: 1",
        "webhooks:",
        "budgets:",
    ]
    file.write_text("retinue: 1\nbudgets: {}\n")
    assert "0 to delete" in run("plan", str(file), "--no-prune")
    assert "- budgets/All" in run("plan", str(file), code=2)
    file.write_text(CONNECTED.replace("limit_usd: 500", "limit_usd: -1"))
    assert "budgets/All: limit_usd" in run("plan", str(file), fails=True)
    assert run("plan", str(tmp_path / "mistyped.yaml"), code=1) == ""


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
    assert run("export").splitlines()[1:] == [f"{section}: {{}}" for section in SECTION_NAMES]


@pytest.mark.slow
@pytest.mark.usefixtures("run")
async def test_the_command_as_a_process(beside: ServerProcess) -> None:
    """The same from outside, where nothing of this process helps it."""
    ran = await run_command(beside, "export", "--tenant", "nobody")
    assert (ran.code, ran.output) == (2, "")
    assert "choose one with --tenant" in ran.errors


@pytest.mark.slow
async def test_a_remote_tenant_by_a_service_account(serving: Serving, tmp_path: Path) -> None:
    """The whole way from outside: the account, its secret in a file, the real server and the real command."""
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    async with serving() as server:
        await server.start()
        login = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
        token = (await _post(server, "/auth/login", login))["access_token"]
        account = await _post(server, "/api/v1/service-accounts", _PIPELINE, token)
        secret = await _post(server, f"/api/v1/service-accounts/{account['id']}/secrets", {}, token)
        (tmp_path / "secret").write_text(f"{secret['client_secret']}\n")
        env = {
            "RETINUE_CLIENT_ID": account["id"],
            "RETINUE_CLIENT_SECRET_FILE": str(tmp_path / "secret"),
            "RETINUE_DATA_DIR": str(tmp_path / "elsewhere"),
            "RETINUE_DATABASE_URL": "",
        }

        async def run(code: int, *arguments: str) -> str:
            ran = await run_command(server, *arguments, "--remote", f"http://127.0.0.1:{server.port}", **env)
            assert ran.code == code, (ran.output, ran.errors)
            return ran.output + ran.errors

        first.write_text(_REMOTE)
        assert "+ agents/Desk" in await run(2, "plan", str(first))
        assert "Done." in await run(0, "apply", str(first), "--yes")
        assert "0 to create, 0 to change, 0 to delete" in await run(0, "plan", str(first))
        exported = await run(0, "export", "--output", str(second))
        assert exported == ""
        assert "budgets is left out: this needs the permission usage:read." in second.read_text()
        assert "nothing was changed" in await run(1, "plan", str(_with(first, "agents:", "budgets:")))
        assert "missing" not in await run(1, "plan", str(_with(first, "x}", "y: 1}")))
        (tmp_path / "secret").write_text("rcs_wrong\n")
        assert "invalid_client" in await run(1, "export")


_PIPELINE = {"name": "Pipeline", "permissions": ["agents:read", "agents:write", "agents:delete"]}
_REMOTE = "retinue: 1\nagents:\n  Desk: {primary_model: local/any, system_prompt: x}\n"


async def _post(server: ServerProcess, path: str, body: Any, token: str = "") -> Any:
    status, answer = await call(server.port, "POST", path, token=token, body=body)
    assert status in {200, 201}, answer
    return answer


def _with(file: Path, old: str, new: str) -> Path:
    changed = file.with_name("changed.yaml")
    changed.write_text(file.read_text().replace(old, new))
    return changed
