"""`script` tools: a file of the operator's or an uploaded one, with the input at its input."""

import pytest

from retinue.files import service as files
from retinue.tools.executors.script import PURPOSE

pytestmark = pytest.mark.either_database

PYTHON = """
import json, sys
given = json.load(sys.stdin)
print("note", file=sys.stderr)
print(json.dumps({"sum": sum(given["n"])}))
"""

OUTSIDE = [
    "../secret.py",
    "../../../../etc/passwd",
    "/etc/passwd",
    "reports/../../secret.py",
    "link.py",
    "folder/secret.py",
    "reports",
    "",
    ".",
    "missing.py",
    "x" * 5000,
    "~/x.py",
    "file_0123456789abcdefghijklmnop",
]


@pytest.fixture
def scripts(service):
    folder = service.settings.data_dir / "scripts"
    (folder / "reports").mkdir(parents=True)
    folder.parent.chmod(0o755)
    (folder / "sum.py").write_text(PYTHON)
    (folder / "reports" / "sum.py").write_text(PYTHON)
    return folder


def script(entrypoint, runtime="python", **more):
    return {"runtime": runtime, "entrypoint": entrypoint, **more}


async def test_an_operators_script_reads_the_input_and_prints_the_output(tools, scripts):
    (scripts / "latest.py").symlink_to("sum.py")
    (scripts / "silent.py").write_text("")
    for entrypoint in ("sum.py", "reports/sum.py", "latest.py"):
        done = await tools.run("script", script(entrypoint), {"n": [1, 2, 3]})
        assert (done["status"], done["output"], done["logs"]) == ("completed", {"sum": 6}, "note\n"), done
    done = await tools.run("script", script("silent.py"))
    assert (done["status"], done["output"]) == ("completed", None)


@pytest.mark.parametrize("entrypoint", OUTSIDE)
async def test_nothing_outside_the_scripts_folder_is_run(tools, scripts, entrypoint):
    (scripts.parent / "secret.py").write_text("print(1)")
    (scripts / "link.py").symlink_to(scripts.parent / "secret.py")
    (scripts / "folder").symlink_to(scripts.parent)
    done = await tools.execute(await tools.make_unchecked("script", script(entrypoint)))
    assert (done["status"], done["error"]["code"]) == ("failed", "not_configured"), done


async def upload(people, tenant, filename, text, purpose=PURPOSE):
    ctx = people.context(tenant.id)
    async with ctx:
        kept = await files.store(
            ctx, text.encode(), purpose=purpose, filename=filename, mime_type="text/plain"
        )
    return kept.id


async def test_an_uploaded_script_runs(tools, admin, people, service):
    tenant = await people.default_tenant()
    files = {"file": ("sum.py", PYTHON.encode(), "text/x-python")}
    answer = await admin.post("/api/v1/files", files=files, fields={"purpose": PURPOSE})
    uploaded = answer.json()["data"]["file_id"]
    done = await tools.run("script", script(uploaded), {"n": [5, 5]})
    assert done.get("output") == {"sum": 10}, done
    folder = service.settings.data_dir / "files" / tenant.id
    assert [path.name for path in folder.iterdir()] == [uploaded]


async def test_only_a_file_of_the_tenant_that_is_meant_as_a_tool_runs(tools, people):
    avatar = await upload(people, await people.default_tenant(), "sum.py", PYTHON, purpose="avatar")
    foreign = await upload(people, await people.tenant("Other"), "sum.py", PYTHON)
    for entrypoint in (avatar, foreign):
        done = await tools.run("script", script(entrypoint), {"n": [1]})
        assert done["error"]["code"] == "not_configured"


async def test_an_uploaded_script_that_is_too_large_does_not_run(tools, people):
    uploaded = await upload(people, await people.default_tenant(), "big.py", "#" * 1_100_000)
    done = await tools.run("script", script(uploaded))
    assert done["error"]["code"] == "not_configured"


async def test_how_a_script_can_fail(tools, scripts):
    ways = [
        ("import sys\nprint('trouble', file=sys.stderr)\nsys.exit(3)", "runtime_error"),
        ("print('not json')", "runtime_error"),
        ("while True: pass", "timeout"),
        ("print('\"' + 'x' * 2_000_000 + '\"')", "output_too_large"),
        ("raise MemoryError", "memory_exceeded"),
    ]
    for code, error in ways:
        (scripts / "fails.py").write_text(code)
        done = await tools.run(
            "script", script("fails.py", timeout_ms=1500 if error == "timeout" else 20_000)
        )
        assert done["error"]["code"] == error, done
        assert ("trouble" in done["error"]["message"]) == ("trouble" in code)
