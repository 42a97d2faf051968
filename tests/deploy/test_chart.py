"""The Helm chart: its manifests are what Kubernetes accepts, for three sets of values and without Helm."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from retinue import __version__
from retinue.kit.setting_loader import list_documented_settings
from scripts import chart
from scripts.chart import CHART, ChartError, Renderer, manifests, render

KUBERNETES = "1.37"
VALUES: dict[str, dict[str, Any]] = {
    "default": {},
    **{path.stem: yaml.safe_load(path.read_text()) for path in sorted((CHART / "ci").glob("*-values.yaml"))},
}
# Kinds of the Prometheus operator, whose schemas are not Kubernetes' own.
FOREIGN = "monitoring.coreos.com/v1"
EVERYTHING = {
    "Deployment",
    "Job",
    "Service",
    "ServiceAccount",
    "Ingress",
    "NetworkPolicy",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "ServiceMonitor",
    "PodMonitor",
}


@pytest.fixture(scope="module")
def kubernetes() -> Any:
    """The library takes seconds to load, which every worker would spend before its first test."""
    import kubernetes_validate

    return kubernetes_validate


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [manifest for manifest in found if manifest["kind"] == kind]


def pods(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        manifest["spec"]["template"]["spec"] for manifest in found if "template" in manifest.get("spec", {})
    ]


def find_manifest(found: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    (only,) = (manifest for manifest in of_kind(found, kind) if manifest["metadata"]["name"] == name)
    return only


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_manifests_are_valid(values: dict[str, Any], kubernetes: Any) -> None:
    for manifest in manifests(values):
        if manifest["apiVersion"] != FOREIGN:
            kubernetes.validate(manifest, KUBERNETES, strict=True)


def test_a_manifest_that_is_not_valid_is_found(kubernetes: Any) -> None:
    (service,) = of_kind(manifests({"service": {"port": "a port"}}), "Service")
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(service, KUBERNETES, strict=True)


def test_every_part_can_be_turned_on_and_most_can_be_turned_off() -> None:
    assert {manifest["kind"] for manifest in manifests(VALUES["everything-values"])} == EVERYTHING
    small = {manifest["kind"] for manifest in manifests(VALUES["one-machine-values"])}
    assert small == {"Deployment", "Service", "ServiceAccount"}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_pods_may_do_as_little_as_possible(values: dict[str, Any]) -> None:
    for pod in pods(manifests(values)):
        assert pod["automountServiceAccountToken"] is False
        assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]) == (10001, True)
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_a_dead_database_restarts_nobody() -> None:
    api, worker = of_kind(manifests({}), "Deployment")
    for deployment, port in ((worker, "metrics"), (api, "http")):
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
        assert asked == {
            "startup": {"path": "/health/live", "port": port},
            "liveness": {"path": "/health/live", "port": port},
            "readiness": {"path": "/health/ready", "port": port},
        }
        assert port in {listed["name"] for listed in container["ports"]}
    grace = api["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert container["lifecycle"]["preStop"]["sleep"]["seconds"] < grace


def test_secrets_are_existing_ones_and_read_from_files() -> None:
    found = manifests(VALUES["everything-values"])
    assert of_kind(found, "Secret") == []
    for pod in pods(found):
        (volume,) = (volume for volume in pod["volumes"] if "secret" in volume)
        assert volume["secret"]["secretName"] == "retinue-production"
        env = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        assert env["RETINUE_DATABASE_URL_FILE"] == "/run/secrets/retinue/database-url"
        assert not env.keys() & {"RETINUE_DATABASE_URL", "RETINUE_MASTER_KEY"}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_it_sets_only_settings_that_exist(values: dict[str, Any]) -> None:
    known = {setting.variable for setting in list_documented_settings()}
    for pod in pods(manifests(values)):
        for entry in pod["containers"][0]["env"]:
            assert entry["name"].removesuffix("_FILE") in known


def test_services_and_policies_select_the_pods() -> None:
    found = manifests(VALUES["everything-values"])
    api, worker = (deployment["spec"]["template"] for deployment in of_kind(found, "Deployment"))
    service = find_manifest(found, "Service", "retinue")
    assert service["spec"]["selector"].items() <= api["metadata"]["labels"].items()
    assert not service["spec"]["selector"].items() <= worker["metadata"]["labels"].items()
    (policy,) = of_kind(found, "NetworkPolicy")
    selected = policy["spec"]["podSelector"]["matchLabels"].items()
    assert selected <= api["metadata"]["labels"].items()
    assert selected <= worker["metadata"]["labels"].items()


def test_metrics_are_not_published() -> None:
    found = manifests(VALUES["everything-values"])
    ((rule,),) = (ingress["spec"]["rules"] for ingress in of_kind(found, "Ingress"))
    backends = {path["path"]: path["backend"]["service"]["name"] for path in rule["http"]["paths"]}
    assert backends == {"/metrics": "retinue-nobody", "/": "retinue"}
    assert {path["pathType"] for path in rule["http"]["paths"]} == {"Prefix"}
    nobody = find_manifest(found, "Service", "retinue-nobody")
    assert "selector" not in nobody["spec"], "it has no endpoints"
    ports = {port["name"] for port in nobody["spec"]["ports"]}
    assert {path["backend"]["service"]["port"]["name"] for path in rule["http"]["paths"]} <= ports


def test_metrics_want_the_token_and_whoever_scrapes_has_it() -> None:
    found = manifests(VALUES["everything-values"])
    for pod in pods(found):
        env = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        assert env["RETINUE_METRICS"] == "on"
        assert env["RETINUE_METRICS_TOKEN_FILE"] == "/run/secrets/retinue/metrics-token"
    (endpoint,) = of_kind(found, "ServiceMonitor")[0]["spec"]["endpoints"]
    (pod_endpoint,) = of_kind(found, "PodMonitor")[0]["spec"]["podMetricsEndpoints"]
    for scraped in (endpoint, pod_endpoint):
        assert scraped["authorization"] == {
            "credentials": {"name": "retinue-production", "key": "metrics-token"}
        }


def test_monitors_without_metrics_are_refused() -> None:
    with pytest.raises(ChartError, match=r"metrics.serviceMonitor.enabled needs metrics.enabled"):
        manifests({"metrics": {"serviceMonitor": {"enabled": True}}})


def allowed_namespaces(policy: dict[str, Any]) -> dict[str, set[str]]:
    """Return the namespaces that may reach each port; everybody is the empty name."""
    found: dict[str, set[str]] = {}
    for rule in policy["spec"]["ingress"]:
        names = {
            next(iter(peer["namespaceSelector"]["matchLabels"].values())) for peer in rule.get("from", [])
        }
        for port in rule["ports"]:
            found[port["port"]] = found.get(port["port"], set()) | (names or {""})
    return found


def namespaces(*names: str) -> list[dict[str, Any]]:
    label = "kubernetes.io/metadata.name"
    return [{"namespaceSelector": {"matchLabels": {label: name}}} for name in names]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, {"http": {""}, "metrics": {""}}),
        ({"from": namespaces("ingress")}, {"http": {"ingress"}, "metrics": {"ingress"}}),
        ({"metricsFrom": namespaces("monitoring")}, {"http": {"", "monitoring"}, "metrics": {"monitoring"}}),
        (
            {"from": namespaces("ingress"), "metricsFrom": namespaces("monitoring")},
            {"http": {"ingress", "monitoring"}, "metrics": {"monitoring"}},
        ),
    ],
)
def test_whoever_scrapes_is_allowed_apart_from_those_who_ask(
    policy: dict[str, Any], expected: dict[str, set[str]], kubernetes: Any
) -> None:
    found = manifests({"metrics": {"enabled": True}, "networkPolicy": policy})
    (made,) = of_kind(found, "NetworkPolicy")
    assert allowed_namespaces(made) == expected
    kubernetes.validate(made, KUBERNETES, strict=True)
    (without,) = of_kind(manifests({"networkPolicy": policy}), "NetworkPolicy")
    assert allowed_namespaces(without).keys() == {"http"}


@pytest.mark.parametrize("claim", ["", "retinue-data"])
def test_nothing_is_counted_twice(claim: str) -> None:
    """Each pod is scraped once, and has its numbers for itself: those who share a folder show the sum."""
    found = manifests({**VALUES["everything-values"], "data": {"existingClaim": claim}})
    for pod in pods(found):
        (mount,) = (
            mount for mount in pod["containers"][0]["volumeMounts"] if mount["mountPath"] == "/data/metrics"
        )
        (volume,) = (volume for volume in pod["volumes"] if volume["name"] == mount["name"])
        assert volume["emptyDir"] == {}
    templates = [deployment["spec"]["template"]["metadata"] for deployment in of_kind(found, "Deployment")]
    (service_monitor,) = of_kind(found, "ServiceMonitor")
    (pod_monitor,) = of_kind(found, "PodMonitor")
    wanted = service_monitor["spec"]["selector"]["matchLabels"].items()
    services = [
        service for service in of_kind(found, "Service") if wanted <= service["metadata"]["labels"].items()
    ]
    selectors = [service["spec"]["selector"].items() for service in services]
    selectors.append(pod_monitor["spec"]["selector"]["matchLabels"].items())
    for template in templates:
        assert sum(selector <= template["labels"].items() for selector in selectors) == 1


def test_pods_of_a_kind_are_spread() -> None:
    for deployment in of_kind(manifests({}), "Deployment"):
        template = deployment["spec"]["template"]
        constraints = template["spec"]["topologySpreadConstraints"]
        assert [constraint["topologyKey"] for constraint in constraints] == [
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        ]
        for constraint in constraints:
            assert constraint["labelSelector"]["matchLabels"] == deployment["spec"]["selector"]["matchLabels"]
            # A cluster of one machine still runs everything.
            assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
    for deployment in of_kind(manifests({"topologySpread": []}), "Deployment"):
        assert "topologySpreadConstraints" not in deployment["spec"]["template"]["spec"]


def test_the_migration_refuses_as_the_command_does() -> None:
    """The hook runs `retinue migrate`, which fails while servers run that would not survive it."""
    (job,) = of_kind(manifests({}), "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["migrate"]


def test_the_chart_has_the_version_of_the_package() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert about["appVersion"] == about["version"] == __version__


def test_the_notes_say_where_it_is() -> None:
    assert "https://agents.example.com" in render({})["NOTES.txt"]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a: {{ .Values.name }}", "a: shop"),
        ("a:\n  {{- toYaml .Values.list | nindent 2 }}\nb", "a:\n  - 1\n  - 2\nb"),
        ("{{ .Values.name | quote }} {{ .Values.nothing | default .Values.name }}", '"shop" shop'),
        ("{{- if .Values.nothing }}\nyes\n{{- else }}\nno\n{{- end }}", "\nno"),
        ("{{- range $key, $value := .Values.map }}\n{{ $key }}={{ $value }}\n{{- end }}", "\na=1\nb=2"),
        ("{{- range .Values.list }}{{ . }},{{ end }}", "1,2,"),
        ('{{ define "x" }}[{{ .Values.name }}]{{ end }}{{ include "x" . }}', "[shop]"),
    ],
)
def test_templates_are_rendered_as_helm_does(template: str, text: str) -> None:
    values = {"name": "shop", "nothing": "", "list": [1, 2], "map": {"b": 2, "a": 1}}
    assert Renderer({"t": template}).render("t", {"Values": values}) == text


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Values.unknown }}",
        "{{ tpl .Values.name . }}",
        "{{ .Values.name | upper }}",
        "{{ with .Values.name }}{{ end }}",
        "{{ if .Values.name }}",
        "{{ end }}",
        "{{ $unknown }}",
    ],
)
def test_what_is_not_understood_is_an_error(template: str) -> None:
    with pytest.raises(ChartError):
        Renderer({"t": template}).render("t", {"Values": {"name": "shop"}})


def test_it_is_a_program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    values = Path(CHART / "ci" / "one-machine-values.yaml")
    monkeypatch.setattr("sys.argv", ["chart.py", str(values)])
    chart.main()
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert printed == manifests(VALUES["one-machine-values"])
