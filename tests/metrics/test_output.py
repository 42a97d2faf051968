"""The output itself: complete, well formed, bounded, without secrets, and the dashboards use nothing else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.metrics.declarations import METRICS
from retinue.kit.metrics.series import MAX_SERIES, CounterDeclaration
from retinue.kit.secrets import Secret
from tests.adapters.llm_server import KEY, ProviderServer
from tests.canaries import hits
from tests.client import Api
from tests.factories.people import ADMIN_PASSWORD
from tests.metrics.scrapes import PROMTOOL, lint, scrape
from tests.usage.spending import chat

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy" / "grafana" / "retinue.json"
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
SUFFIXES = ("_bucket", "_sum", "_count")
# Of the design, without what belongs to service accounts.
DESIGNED = """
build_info{version} http_requests_total{route,method,status} http_request_duration_seconds{cost}
http_requests_in_flight streams_open rate_limited_total{window} logins_total{method,outcome}
chats_total{channel,status} chat_duration_seconds chat_time_to_first_token_seconds
model_calls_total{provider,model,outcome} model_call_duration_seconds{provider}
model_tokens_total{provider,model,type} model_cost_usd_total{provider,model} budget_refusals_total
tool_executions_total{kind,status} tool_duration_seconds{kind} retrieval_duration_seconds
jobs_waiting{queue} job_oldest_age_seconds{queue} jobs_total{kind,outcome} job_duration_seconds{queue}
events_waiting webhook_deliveries_total{outcome} webhook_delivery_lag_seconds workflow_runs_total{status}
approvals_waiting tokens_issued_total{grant} sandbox_runs_total{backend,status} egress_refused_total{reason}
database_connections{state} database_commit_duration_seconds vault_sealed degraded{part}
spans_exported_total{outcome}
"""

needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool (Debian: prometheus) is missing")
Json = dict[str, Any]


def test_the_table_has_every_metric_of_the_design() -> None:
    declared = {
        name.removeprefix("retinue_") + (f"{{{','.join(one.labels)}}}" if one.labels else "")
        for name, one in METRICS.items()
        if name.startswith("retinue_")
    }
    assert declared == set(DESIGNED.split())


@needs_promtool
async def test_promtool_has_nothing_to_say_about_real_output(
    service: Service, admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says("Hello.")
    assert (await chat(admin, agent)).status == 200
    await service.runner.drain()
    service.sampler.sample_process()
    await service.sampler.sample_database()
    found = await scrape(admin)
    assert lint("check", "metrics", text=found.text) == (0, "")
    names = {sample.name for sample in found.samples}
    assert {"process_cpu_seconds_total", "process_open_fds", "python_gc_collections_total"} <= names
    assert found["retinue_build_info"] == 1
    assert found["retinue_database_connections"] > 0
    assert found["retinue_database_commit_duration_seconds_count"] > 0
    assert found["process_resident_memory_bytes"] > 1_000_000


@needs_promtool
def test_promtool_finds_what_is_wrong() -> None:
    assert lint("check", "metrics", text="bad_name_count 1\n")[0] != 0


async def test_unlabelled_metrics_are_there_from_the_start(admin: Api) -> None:
    found = await scrape(admin)
    names = {sample.name for sample in found.samples}
    assert "retinue_budget_refusals_total" in names
    assert "retinue_chat_duration_seconds_count" in names
    assert "retinue_events_waiting" not in names, "no worker has measured it"


async def test_no_secret_is_in_the_output(admin: Api, agent: Json, provider: ProviderServer) -> None:
    provider.says("Hello.")
    assert (await chat(admin, agent, message="canary-message-7Q")).status == 200
    wrong = {"email": "canary@example.com", "password": "canary-password-7Q"}
    assert (await Api(admin.app).post("/auth/login", wrong)).status == 401
    await admin.get("/api/v1/agents?token=canary-query-7Q")
    await admin.get("/canary-path-7Q")
    text = (await scrape(admin)).text.encode()
    planted = ["canary-message-7Q", "canary-password-7Q", "canary-query-7Q", "canary-path-7Q", "canary@"]
    user = admin.user
    assert (
        hits(text, [*planted, KEY, ADMIN_PASSWORD, admin.token, user.id, user.tenant_id, agent["id"]]) == []
    )


async def test_a_metric_stops_making_series_at_its_limit(service: Service, admin: Api) -> None:
    counter = METRICS["retinue_spans_exported_total"]
    assert isinstance(counter, CounterDeclaration)
    for number in range(MAX_SERIES + 50):
        counter.count(f"outcome-{number}")
    found = await scrape(admin)
    assert len(found.labels(counter.name, "outcome")) == MAX_SERIES + 1
    assert found[counter.name, {"outcome": "other"}] == 50


async def test_without_the_setting_nothing_is_counted_or_shown(make_service: Any, tmp_path: Path) -> None:
    api = Api(await make_service())
    assert (await api.get("/metrics")).status == 404
    assert not (tmp_path / "metrics").exists()
    assert not any(metric.is_on for metric in METRICS.values())


async def test_the_token_is_required_of_everybody(make_service: Any) -> None:
    api = Api(await make_service(metrics=True, metrics_token=Secret("scrape-me")))
    assert (await api.get("/metrics")).status == 401
    assert (await scrape(api, Authorization="Bearer scrape-me"))["retinue_http_requests_in_flight"] == 1


def names_in(text: str) -> set[str]:
    """Names of metrics in expressions; recorded names have a colon."""
    return set(re.findall(r"\b(?:retinue|process|python_gc)_[a-z_]+\b(?!:)", text))


def unknown(names: set[str]) -> set[str]:
    known = set(METRICS)
    known |= {
        name + suffix for name, one in METRICS.items() if one.type == "histogram" for suffix in SUFFIXES
    }
    return names - known


def test_dashboard_and_rules_use_only_declared_metrics() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    used = set().union(*map(names_in, shown))
    assert len(used) > 30
    assert unknown(used) == set()
    assert unknown(names_in(RULES.read_text())) == set()
    assert unknown({"retinue_made_up_total"}), "this check can fail"
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


@needs_promtool
def test_promtool_accepts_the_rules(tmp_path: Path) -> None:
    code, said = lint("check", "rules", str(RULES))
    assert code == 0, said
    assert "FAILED" not in said
    dashboard = json.loads(DASHBOARD.read_text())
    rules = [
        {"record": f"panel:number:{number}", "expr": target["expr"].replace("$__rate_interval", "5m")}
        for number, target in enumerate(
            target for panel in dashboard["panels"] for target in panel.get("targets", ())
        )
    ]
    as_rules = tmp_path / "panels.json"
    as_rules.write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    assert lint("check", "rules", str(as_rules))[0] == 0, "every expression of the dashboard parses"
