"""Tests that the paths, error codes, events, permissions and settings in the documents exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from retinue.access.catalogue import CATALOGUE
from retinue.cli import export_tenant
from retinue.kit.events.declare import EVENT_TYPES
from retinue.kit.setting_loader import list_documented_settings
from retinue.tenant_file.document import SECTION_NAMES
from tests.contract.routes import ROUTES

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "architecture.md",
    ROOT / "docs" / "glossary.md",
    *(ROOT / "docs" / "guides").glob("*.md"),
]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
REFERENCE = ROOT / "docs" / "reference"
ERRORS = set(re.findall(r"^\| (\d+) \| `(\w+)`", (REFERENCE / "errors.md").read_text(), re.MULTILINE))
_CALL = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) `?((?:…|/)[\w/:.{}$…<>-]*)")
_LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
_OTHERS_CALLS = {("POST", "/v3/mail/send"), ("POST", "/v3/<domain>/messages"), ("GET", "/api/tags")}
"""Calls of the APIs of SendGrid, Mailgun and Ollama."""
_NO_PERMISSIONS = {"chat:write", "host:port"}
"""A scope of Slack, and a way to write an address."""
_SAMPLE_EVENTS = {"order", "data", "trigger", "input", "nodes", "execution", "metadata", "settings"}


def prose(page: Path) -> str:
    return page.read_text()


@EVERY_PAGE
def test_every_setting_that_is_named_exists(page: Path) -> None:
    known = {row.variable for row in list_documented_settings()}
    named = set(re.findall(r"RETINUE_[A-Z_]+[A-Z]", prose(page)))
    ours_alone = ("RETINUE_TEST_", "RETINUE_BENCH_")
    assert {name for name in named - known if not name.startswith(ours_alone)} == set()


_SETTING = re.compile(r"\b(?:RETINUE|OTEL)_[A-Z_]+[A-Z]\b")
_TREES = ("src", "console/src", "deploy", "docs", "scripts", "packaging", "bench")
_TEXTS = {".py", ".toml", ".ts", ".tsx", ".json", ".md", ".html", ".js", ".yaml", ".yml", ".tpl", ".sh"}
_UNITS = {".service", ""}
"""The units of systemd, the Dockerfile, and programs without a suffix."""
_NO_SETTINGS = {
    "RETINUE_CONSOLE",  # of the build
    "RETINUE_VERSION",  # of compose
    "RETINUE_CLIENT_ID",  # of `retinue plan --remote`
    "RETINUE_CLIENT_SECRET",
}


def unknown_settings(text: str) -> set[str]:
    """Return the names in a text that look like settings and are none."""
    known = {row.variable for row in list_documented_settings()} | _NO_SETTINGS
    named = {name.removesuffix("_FILE") for name in _SETTING.findall(text)}
    return {name for name in named - known if not name.startswith(("RETINUE_TEST_", "RETINUE_BENCH_"))}


@pytest.mark.parametrize("tree", _TREES)
def test_every_setting_that_the_product_names_exists(tree: str) -> None:
    """The server reads every setting that the console, an answer or a deployment file names."""
    found = {}
    for path in (ROOT / tree).rglob("*"):
        is_ours = not {"node_modules", "web", "__pycache__"} & set(path.relative_to(ROOT).parts)
        if path.is_file() and is_ours and path.suffix in _TEXTS | _UNITS:
            unknown = unknown_settings(path.read_text())
            if unknown:
                found[str(path.relative_to(ROOT))] = unknown
    assert found == {}


def test_a_setting_that_does_not_exist_is_found() -> None:
    text = "Set `RETINUE_OTLP_ENDPOINT`, OTEL_EXPORTER_OTLP_ENDPOINT or RETINUE_MASTER_KEY_FILE"
    assert unknown_settings(text) == {"RETINUE_OTLP_ENDPOINT"}


@EVERY_PAGE
def test_every_refusal_that_is_named_has_this_status(page: Path) -> None:
    named = set(re.findall(r"\b([45]\d\d) `([a-z_]+)`", prose(page)))
    assert named - ERRORS == set()


@EVERY_PAGE
def test_every_permission_that_is_named_exists(page: Path) -> None:
    named = set(re.findall(r"`([a-z_]+:[a-z_]+)`", prose(page)))
    assert named - {permission.key for permission in CATALOGUE} - _NO_PERMISSIONS == set()


@EVERY_PAGE
def test_every_event_of_the_platform_that_is_named_exists(page: Path) -> None:
    categories = {name.partition(".")[0] for name in EVENT_TYPES}
    named = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+){1,3})`", prose(page)))
    of_ours = {name for name in named if name.partition(".")[0] in categories - _SAMPLE_EVENTS}
    unknown = of_ours - set(EVENT_TYPES)
    assert {name for name in unknown if not name.endswith((".md", ".py", ".json"))} == set()


def calls_named(page: Path) -> Iterator[tuple[str, str]]:
    for method, path in _CALL.findall(prose(page)):
        yield method, path.rstrip(".…:")


def _matches(method: str, path: str) -> bool:
    """A path as people write it: `:id`, `$ID` or `{id}` for a parameter, `…` for a beginning."""
    parts = re.split(r"(…|[:$]\w+|{\w+}|<[\w ]+>)", path)
    pattern = "".join(
        ".*" if part == "…" else "[^/]+" if re.match(r"[:$<{]", part) else re.escape(part) for part in parts
    )
    # A number or an id in a path is an example of a parameter, such as the version 3.
    pattern = re.sub(r"/([a-z]+_)?\d+(?=/|$)", "/[^/]+", pattern)
    return any(route.method == method and re.fullmatch(pattern, route.path) for route in ROUTES)


@EVERY_PAGE
def test_every_call_that_is_named_is_a_route(page: Path) -> None:
    assert {call for call in calls_named(page) if not _matches(*call)} - _OTHERS_CALLS == set()


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / "docs" / "adr").glob("*.md")], ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    lost = []
    for path, anchor in _LINK.findall(page.read_text()):
        if path.startswith(("http:", "https:", "mailto:")):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor[1:] not in anchors(target)):
            lost.append(path + anchor)
    assert lost == []


def test_the_help_of_export_names_every_section() -> None:
    said = export_tenant.__doc__ or ""
    assert [section for section in SECTION_NAMES if section.replace("_", " ") not in said] == []


def test_the_readme_links_every_guide() -> None:
    text = (ROOT / "README.md").read_text()
    guides = (ROOT / "docs" / "guides").glob("*.md")
    assert [guide.name for guide in guides if f"docs/guides/{guide.name}" not in text] == []
