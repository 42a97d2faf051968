"""Packages come as wheels from the operator's index, pinned, into a folder that the sandbox only reads."""

import base64
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from aiohttp import web

from retinue.adapters.sandbox import Code
from retinue.adapters.sandbox.packages import PackagesUnavailable, install, validate_names
from tests.adapters.sandbox_ways import failure, needs

pytest_plugins = ("tests.adapters.sandbox_fixtures",)

GOOD = [
    "requests",
    "requests==2.32.3",
    "numpy>=1.26,<3",
    "uvicorn[standard]==0.30.0",
    "a",
    "zope.interface~=6.0",
]
GOOD += ["typing_extensions >= 4", "pkg[one, two] != 1.0", "x===1!2.0+local", "Django==5.*"]
BAD = [
    "",
    " ",
    "--index-url=http://evil",
    "-e",
    "-e .",
    "-r requirements.txt",
    "--yes",
    "-y",
    "git+https://x/y",
]
BAD += [
    "git+file:///etc",
    "https://evil/x.whl",
    "file:///etc/passwd",
    "./x.whl",
    "../x",
    "/etc",
    "x.whl @ https://y",
]
BAD += [
    "requests @ https://evil/x.whl",
    "requests; python_version<'3'",
    "requests\n--index-url=http://evil",
    "a b",
]
BAD += [
    "requests==1.0 --hash=sha256:0",
    "$(id)",
    "`id`",
    "a;id",
    "a|b",
    "réquests",
    "a" * 300,
    "a==",
    "a[",
    "\x00a",
]
GOOD_NPM = ["lodash", "lodash@4.17.21", "@types/node", "@scope/x@^1.2.3", "left-pad@~1", "x@1.0.0-beta.1"]
BAD_NPM = [
    "",
    "Lodash",
    "--registry=http://evil",
    "git+ssh://x",
    "user/repo",
    "github:user/repo",
    "file:../x",
]
BAD_NPM += [
    "./x",
    "/etc",
    "x@file:../y",
    "x@http://evil/x.tgz",
    "x@npm:y@1",
    "@scope",
    "x@latest || rm",
    "..",
    "a b",
]


@pytest.mark.parametrize("name", GOOD)
def test_names_with_versions_are_accepted(name):
    assert validate_names([name]) == {}


@pytest.mark.parametrize("name", BAD)
def test_options_addresses_and_paths_are_refused(name):
    assert list(validate_names(["requests", name])) == [1]


@pytest.mark.parametrize("name", GOOD_NPM)
def test_names_of_npm_packages_are_accepted(name):
    assert validate_names([name], "javascript") == {}


@pytest.mark.parametrize("name", BAD_NPM)
def test_what_npm_would_fetch_from_elsewhere_is_refused(name):
    assert list(validate_names([name], "javascript")) == [0]


def test_more_than_fifty_packages_are_refused():
    assert list(validate_names(["a"] * 51)) == [50]


def wheel(folder: Path, name: str, version: str, code: str, *, needs: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    content = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in content.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**content, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(path, text)


def _digest(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """The operator's own index: a folder of wheels that pip's configuration names."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel(folder, "greeter", "1.0", "def greet(who): return 'old'")
    wheel(
        folder, "greeter", "2.1", "import shouter\ndef greet(who): return shouter.up(who)", needs="shouter>=1"
    )
    wheel(folder, "shouter", "1.5", "def up(text): return text.upper()")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


async def test_a_package_is_pinned_with_what_it_needs_and_a_function_may_only_read_it(
    index, tmp_path, sandbox
):
    target = tmp_path / "packages" / "one"
    assert await install(target, "python", ["greeter>=2"], timeout_s=60) == ["greeter==2.1", "shouter==1.5"]
    code = Code(
        runtime="python", source="import greeter\ndef main(who): return greeter.greet(who)", packages=target
    )
    assert (await sandbox.run(code, "ada", timeout_s=10)).output == "ADA"
    assert [path.name for path in target.parent.iterdir()] == ["one"]
    changing = Code(
        runtime="python", source="def main(_): open('/packages/greeter.py', 'w')", packages=target
    )
    assert "Read-only file system" in (await failure(sandbox.run(changing, None, timeout_s=10))).message


async def test_a_source_distribution_is_never_built(index, tmp_path):
    ran = tmp_path / "setup-ran"
    with tarfile.open(index / "evil-1.0.tar.gz", "w:gz") as archive:
        for name, text in {
            "setup.py": f"open({str(ran)!r}, 'w')",
            "PKG-INFO": "Name: evil\nVersion: 1.0\n",
        }.items():
            entry = tarfile.TarInfo(f"evil-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    with pytest.raises(PackagesUnavailable, match="No matching distribution found for evil"):
        await install(tmp_path / "packages", "python", ["evil"], timeout_s=60)
    assert not ran.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]


async def test_secrets_of_the_server_are_not_given_to_the_installer(index, tmp_path, monkeypatch):
    monkeypatch.setenv("RETINUE_MASTER_KEY", "canary")
    seen = tmp_path / "environ"
    program = tmp_path / "npm"
    program.write_text(f"#!/bin/sh\nenv > {seen}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert await install(tmp_path / "packages", "javascript", ["lodash"], timeout_s=30) == []
    assert "PIP_NO_INDEX" in seen.read_text()
    assert "RETINUE" not in seen.read_text()


async def test_installing_is_killed_when_it_takes_too_long(tmp_path, monkeypatch):
    program = tmp_path / "npm"
    program.write_text("#!/bin/sh\nsleep 60 & wait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(PackagesUnavailable, match=r"longer than 0\.5 seconds"):
        await install(tmp_path / "packages", "javascript", ["lodash"], timeout_s=0.5)


async def test_bad_names_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(PackagesUnavailable) as refused:
        await install(tmp_path / "packages", "python", ["fine", "--pre"], timeout_s=1)
    assert list(refused.value.details) == ["1"]


async def test_without_npm_javascript_packages_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PackagesUnavailable, match="npm is not installed"):
        await install(tmp_path / "packages", "javascript", ["lodash"], timeout_s=1)


@pytest.fixture
async def registry(monkeypatch, tmp_path):
    """A registry that speaks npm's protocol and has one package, whose install script would leave a mark."""
    mark = tmp_path / "script-ran"
    described = {"name": "doubler", "version": "1.2.3", "main": "index.js"}
    described["scripts"] = {"install": f"touch {mark}", "postinstall": f"touch {mark}"}
    files = {"package.json": json.dumps(described), "index.js": "module.exports = (n) => n * 2;"}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    content = packed.getvalue()

    async def document(request: web.Request) -> web.Response:
        address = f"http://{request.host}/doubler/-/doubler-1.2.3.tgz"
        dist = {"tarball": address, "shasum": hashlib.sha1(content).hexdigest()}
        versions = {"1.2.3": {**described, "dist": dist}}
        return web.json_response({"name": "doubler", "dist-tags": {"latest": "1.2.3"}, "versions": versions})

    async def tarball(_request: web.Request) -> web.Response:
        return web.Response(body=content)

    app = web.Application()
    app.add_routes([web.get("/doubler", document), web.get("/doubler/-/{file}", tarball)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    yield mark
    await runner.cleanup()


async def test_an_npm_package_is_pinned_and_its_scripts_do_not_run(registry, tmp_path, sandbox):
    needs("npm")
    needs("node")
    target = tmp_path / "packages"
    assert await install(target, "javascript", ["doubler@^1.0.0"], timeout_s=60) == ["doubler@1.2.3"]
    for source in (
        "const double = require('doubler'); module.exports = (input) => double(input);",
        "import double from 'doubler';\nexport default (input) => double(input);",
        "import double from 'doubler';\nfunction main(input) { return double(input) }",
    ):
        code = Code(runtime="javascript", source=source, packages=target)
        assert (await sandbox.run(code, 21, timeout_s=10)).output == 42
    assert not registry.exists()
