"""The Helm chart: its manifests are what Kubernetes accepts, for three sets of values and without Helm."""

from pathlib import Path
from typing import Any

import kubernetes_validate
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


def of_kind(found: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [manifest for manifest in found if manifest["kind"] == kind]


def pods(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        manifest["spec"]["template"]["spec"] for manifest in found if "template" in manifest.get("spec", {})
    ]


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_manifests_are_valid(values: dict[str, Any]) -> None:
    for manifest in manifests(values):
        if manifest["apiVersion"] != FOREIGN:
            kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_a_manifest_that_is_not_valid_is_found() -> None:
    (service,) = of_kind(manifests({"service": {"port": "a port"}}), "Service")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(service, KUBERNETES, strict=True)


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
    api, _ = of_kind(manifests({}), "Deployment")
    (container,) = api["spec"]["template"]["spec"]["containers"]
    asked = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")
    }
    assert asked == {"startup": "/health/live", "liveness": "/health/live", "readiness": "/health/ready"}
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
    (service,) = of_kind(found, "Service")
    assert service["spec"]["selector"].items() <= api["metadata"]["labels"].items()
    assert not service["spec"]["selector"].items() <= worker["metadata"]["labels"].items()
    (policy,) = of_kind(found, "NetworkPolicy")
    selected = policy["spec"]["podSelector"]["matchLabels"].items()
    assert selected <= api["metadata"]["labels"].items()
    assert selected <= worker["metadata"]["labels"].items()


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
