"""Writes packaging/retinue.cdx.json, the software bill of materials that the wheel carries.

It lists what `requirements.lock` pins, by cyclonedx-bom, and the JavaScript packages that the console is made
of. It has no time and no serial number, so that it changes only with what it lists.
"""

import base64
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
SBOM = ROOT / "packaging" / "retinue.cdx.json"
LOCK = ROOT / "requirements.lock"
CONSOLE_LOCK = ROOT / "console" / "package-lock.json"
NPM_FOLDER = "node_modules/"


def python_packages() -> dict[str, Any]:
    """Return the document of the Python packages, with Retinue as its subject."""
    command = (
        *(Path(sys.executable).with_name("cyclonedx-py"), "requirements", LOCK),
        *("--pyproject", ROOT / "pyproject.toml", "--mc-type", "application"),
        *("--output-reproducible", "--output-format", "JSON", "--output-file", "-"),
    )
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  a tool of .venv
    document: dict[str, Any] = json.loads(done.stdout)
    document["components"] = [_python_component(component) for component in document["components"]]
    # Without edges it says no more than the list, and the references of tools are addresses that age.
    del document["dependencies"]
    for tool in document["metadata"]["tools"]["components"]:
        tool.pop("externalReferences", None)
    return document


def _python_component(component: dict[str, Any]) -> dict[str, Any]:
    """Return a component that does not depend on lines of the lock or on an index, with its licence."""
    kept = {name: component[name] for name in ("name", "purl", "type", "version")}
    try:
        licence = metadata.metadata(component["name"]).json.get("license_expression")
    except metadata.PackageNotFoundError:
        licence = None
    return (
        kept | {"bom-ref": component["purl"]} | ({"licenses": [{"expression": licence}]} if licence else {})
    )


def console_packages() -> list[dict[str, Any]]:
    """Return the JavaScript packages of the console, without those for checks and of its workspace."""
    packages = json.loads(CONSOLE_LOCK.read_text())["packages"]
    found = {
        (path.rpartition(NPM_FOLDER)[2], package["version"]): package
        for path, package in packages.items()
        if path.startswith(NPM_FOLDER) and not package.get("dev") and not package.get("link")
    }
    return [_component(name, version, package) for (name, version), package in sorted(found.items())]


def _component(name: str, version: str, package: dict[str, Any]) -> dict[str, Any]:
    purl = f"pkg:npm/{quote(name, safe='/')}@{version}"
    component: dict[str, Any] = {"bom-ref": purl, "name": name, "purl": purl}
    component |= {"type": "library", "version": version}
    if package.get("integrity", "").startswith("sha512-"):
        digest = base64.b64decode(package["integrity"].removeprefix("sha512-"))
        component["hashes"] = [{"alg": "SHA-512", "content": digest.hex()}]
    if "license" in package:
        component["licenses"] = [{"expression": package["license"]}]
    return component


def main() -> None:
    document = python_packages()
    document["components"] += console_packages()
    SBOM.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    sys.stdout.write(f"{SBOM.name}: {len(document['components'])} packages\n")


if __name__ == "__main__":
    main()
