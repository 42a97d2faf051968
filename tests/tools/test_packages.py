"""Packages of functions and scripts: checked when saved, installed by a job, gone with the tool."""

import zipfile
from pathlib import Path

import pytest

from retinue.tools.config.packages import packages_folder
from retinue.tools.models import Tool
from tests.factories.tools import change_tool, make_tool, run_tool, tool_body

pytestmark = pytest.mark.either_database

CODE = {"runtime": "python", "code": "def main(input): return 1"}


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """The only folder in which pip finds packages."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for version in ("1.0", "2.0"):
        _wheel(folder, "greeting", version)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def _wheel(folder: Path, name: str, version: str) -> None:
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": f"version = '{version}'\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
        record = "".join(f"{path},,\n" for path in (*files, f"{about}/RECORD"))
        wheel.writestr(f"{about}/RECORD", record)


async def make_function(api, packages, **more):
    return await make_tool(api, tool_type="function", config={**CODE, "packages": packages, **more})


async def read_tool(api, tool):
    return (await api.get(f"/v1/tools/{tool['id']}")).json()["data"]


async def folder_of(people, api, tool) -> Path | None:
    async with people.context(api.user.tenant_id) as ctx:
        record = await ctx.db.get(Tool, tool["id"])
        assert record is not None
        return packages_folder(ctx.settings, record)


async def test_packages_are_resolved_and_pinned_after_saving(service, admin, people, shelf) -> None:
    tool = await make_function(admin, ["greeting<2"])
    assert (tool["packages_status"], tool["pinned_packages"]) == ("resolving", [])
    assert await folder_of(people, admin, tool) is None
    ended = await run_tool(admin, tool)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "packages_unavailable")
    await service.runner.drain()
    found = await read_tool(admin, tool)
    assert (found["packages_status"], found["pinned_packages"]) == ("ready", ["greeting==1.0"])
    folder = await folder_of(people, admin, tool)
    assert (folder / "greeting" / "__init__.py").read_text() == "version = '1.0'\n"
    assert folder.is_relative_to(service.settings.data_dir / "packages" / admin.user.tenant_id / tool["id"])


@pytest.mark.slow
async def test_other_packages_are_resolved_anew_and_the_old_ones_go(service, admin, people, shelf) -> None:
    tool = await make_function(admin, ["greeting==1.0"])
    await service.runner.drain()
    before = await folder_of(people, admin, tool)
    assert (await change_tool(admin, tool, description="the same packages"))["packages_status"] == "ready"
    changed = await change_tool(admin, tool, config={"packages": ["greeting"]})
    assert (changed["packages_status"], changed["pinned_packages"]) == ("resolving", [])
    await service.runner.drain()
    assert (await read_tool(admin, tool))["pinned_packages"] == ["greeting==2.0"]
    after = await folder_of(people, admin, tool)
    assert [folder.name for folder in after.parent.iterdir()] == [after.name]
    assert before != after
    assert (await change_tool(admin, tool, config={"packages": []}))["packages_status"] == "none"
    await service.runner.drain()
    assert not after.parent.exists()


@pytest.mark.slow
async def test_packages_that_do_not_exist_fail_with_a_reason_until_saved_again(service, admin, shelf) -> None:
    tool = await make_function(admin, ["absent"])
    await service.runner.drain()
    failed = await read_tool(admin, tool)
    assert failed["packages_status"] == "failed"
    assert "absent" in failed["packages_error"]
    assert str(shelf) not in failed["packages_error"]
    ended = await run_tool(admin, tool)
    assert (ended["error"]["code"], ended["error"]["message"]) == (
        "packages_unavailable",
        failed["packages_error"],
    )
    _wheel(shelf, "absent", "3.0")
    assert (await change_tool(admin, tool, config={}))["packages_status"] == "resolving"
    await service.runner.drain()
    ready = await read_tool(admin, tool)
    assert (ready["packages_status"], ready["packages_error"]) == ("ready", None)


async def test_a_deleted_tool_takes_its_packages_along(service, admin, people, shelf) -> None:
    tool = await make_function(admin, ["greeting"])
    await service.runner.drain()
    folder = await folder_of(people, admin, tool)
    assert folder.is_dir()
    assert (await admin.delete(f"/v1/tools/{tool['id']}")).status == 204
    await service.runner.drain()
    assert not folder.parent.exists()


async def test_packages_of_a_tool_that_is_gone_before_they_are_ready_are_not_kept(
    service, admin, shelf
) -> None:
    tool = await make_function(admin, ["greeting"])
    assert (await admin.delete(f"/v1/tools/{tool['id']}")).status == 204
    await service.runner.drain()
    assert list(service.settings.data_dir.glob("packages/*/*/*")) == []


@pytest.mark.parametrize(
    "name",
    [
        "--index-url=http://evil.example",
        "-r/etc/passwd",
        "--yes",
        "git+file:///srv/repository",
        "https://evil.example/x.whl",
        "./local",
        "../../x",
        "greeting @ file:///x.whl",
        "greeting; os_name == 'posix'",
        "greeting\n--pre",
        "",
        " ",
        "x" * 500,
    ],
)
async def test_what_is_no_name_of_a_package_is_refused(admin, name) -> None:
    for runtime in ("python", "node"):
        config = {**CODE, "runtime": runtime, "packages": ["greeting", name]}
        answer = await admin.post("/v1/tools", tool_body(tool_type="function", config=config))
        assert (answer.status, list(answer.details)) == (422, ["config.packages.1"])


async def test_packages_of_other_kinds_of_tools_mean_nothing(admin) -> None:
    tool = await make_tool(admin, config={"packages": ["greeting"]})
    assert tool["packages_status"] == "none"
