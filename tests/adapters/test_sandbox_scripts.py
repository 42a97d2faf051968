"""Scripts read standard input, answer on standard output, and see no more than their own folder."""

import os

import pytest

from retinue.adapters.sandbox import Code
from tests.adapters.sandbox_attacks import source_of
from tests.adapters.sandbox_ways import failure, needs

pytest_plugins = ("tests.adapters.sandbox_fixtures",)

DOUBLE = {
    "python": "import json, sys\njson.dump(json.load(sys.stdin) * 2, sys.stdout)",
    "javascript": "process.stdout.write(JSON.stringify(JSON.parse(require('fs').readFileSync(0)) * 2))",
}


@pytest.fixture
def run(sandbox, sandbox_dir):
    """A script as an uploaded file, named by an id."""

    async def script(source: str, input: object = None, runtime: str = "python", **more):
        if runtime == "javascript":
            needs("node")
        file = sandbox_dir / "files" / "file_01"
        file.write_text(source)
        file.chmod(0o600)
        return await sandbox.run(
            Code(runtime=runtime, entrypoint=file), input, timeout_s=more.pop("timeout_s", 10), **more
        )

    return script


@pytest.mark.parametrize("runtime", DOUBLE)
async def test_a_script_reads_its_input_and_writes_its_output(run, runtime):
    outcome = await run(DOUBLE[runtime], 21, runtime)
    assert (outcome.output, outcome.logs) == (42, "")


async def test_node_reads_its_input_where_scripts_look_for_it(run):
    source = "console.log(JSON.stringify(require('fs').readFileSync('/dev/stdin', 'utf8')))"
    assert (await run(source, {"a": 1}, "javascript")).output == '{"a":1}'


async def test_node_understands_a_script_that_is_a_module(sandbox, sandbox_dir):
    needs("node")
    file = sandbox_dir / "files" / "script.mjs"
    file.write_text("import { platform } from 'node:os';\nconsole.log(JSON.stringify(await platform()));")
    code = Code(runtime="javascript", entrypoint=file)
    assert (await sandbox.run(code, None, timeout_s=10)).output == "linux"


async def test_what_a_script_says_on_errors_is_its_log(run):
    outcome = await run("import sys\nprint('careful', file=sys.stderr)\nprint('[1]')")
    assert (outcome.output, outcome.logs) == ([1], "careful\n")


async def test_a_script_may_write_nothing(run):
    assert (await run("pass")).output is None


async def test_output_that_is_no_json_is_an_error_that_shows_it(run):
    failed = await failure(run("print('hello'); print('world')"))
    assert failed.kind == "runtime_error"
    assert (
        failed.message == "The script must write one JSON value to standard output, but wrote: hello\nworld"
    )


async def test_a_script_that_fails_tells_its_last_line(run):
    failed = await failure(run("import sys\nsys.exit('no such customer')"))
    assert (failed.kind, failed.message) == ("runtime_error", "The script failed: no such customer")
    failed = await failure(run("process.exit(3)", runtime="javascript"))
    assert failed.message == "The script failed: exit code 3"


async def test_a_script_that_needs_too_much_memory_fails_for_that(run):
    failed = await failure(run("held = bytearray(2 * 1024**3)", memory_mb=64))
    assert failed.kind == "memory_exceeded"


async def test_a_script_that_takes_too_long_is_killed(run):
    failed = await failure(run("import time\nprint('1', flush=True)\ntime.sleep(60)", timeout_s=0.5))
    assert failed.kind == "timeout"


async def test_a_script_that_writes_too_much_is_refused(run):
    assert (await failure(run("print('x' * 2_000_000)"))).kind == "output_too_large"
    assert (await failure(run("while True: print('x' * 1_000_000)"))).kind == "output_too_large"


async def test_a_script_starts_programs_of_its_own(run):
    source = (
        "import subprocess\nprint(subprocess.run(['/bin/echo', '5'], capture_output=True).stdout.decode())"
    )
    assert (await run(source)).output == 5


@pytest.mark.parametrize(
    "name", ["reads_environment_of_process_1", "reads_the_data_dir", "connects_to_loopback"]
)
async def test_a_script_cannot_get_out(run, name, surroundings, canaries):
    source = source_of(name) + "\nimport json, sys\njson.dump(main(json.load(sys.stdin)), sys.stdout)\n"
    outcome = await run(source, surroundings)
    assert list(outcome.output) == ["blocked"]
    assert canaries.visitors() == []


@pytest.fixture
def scripts(sandbox_dir):
    """The operator's scripts: one beside the folders, one in a folder with a module of its own."""
    folder = sandbox_dir / "scripts"
    (folder / "reports").mkdir(exist_ok=True)
    (folder / "top.py").write_text("import json, os\nprint(json.dumps(sorted(os.listdir('/script'))))")
    (folder / "reports" / "rates.py").write_text("RATE = 3")
    (folder / "reports" / "yearly.py").write_text(
        "import json, os, rates\n"
        "print(json.dumps([rates.RATE, sorted(os.listdir('/script')), os.listdir('/tmp')]))"
    )
    (folder.parent / "scripts-of-others").mkdir(exist_ok=True)
    (folder.parent / "scripts-of-others" / "x.py").write_text("print(1)")
    (folder / "reports" / "link.py").unlink(missing_ok=True)
    (folder / "reports" / "link.py").symlink_to(sandbox_dir / "secret.txt")
    return folder


async def test_a_script_in_a_folder_comes_with_its_folder(sandbox, scripts):
    code = Code(runtime="python", entrypoint=scripts / "reports" / "yearly.py")
    rate, beside, tmp = (await sandbox.run(code, None, timeout_s=10)).output
    assert (rate, tmp) == (3, [])
    assert beside == ["link.py", "rates.py", "yearly.py"]


async def test_a_script_beside_the_folders_comes_alone(sandbox, scripts):
    code = Code(runtime="python", entrypoint=scripts / "top.py")
    assert (await sandbox.run(code, None, timeout_s=10)).output == ["main.py"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("reports/link.py", "The script is outside the scripts folder."),
        ("reports/../../secret.txt", "The script is outside the scripts folder."),
        ("../scripts-of-others/x.py", "The script is outside the scripts folder."),
        ("/etc/passwd", "The script is outside the scripts folder."),
        ("missing.py", "The script does not exist."),
        ("reports", "The script is not a file."),
    ],
)
async def test_a_path_that_leads_elsewhere_is_refused(sandbox, scripts, path, message):
    failed = await failure(sandbox.run(Code(runtime="python", entrypoint=scripts / path), None, timeout_s=10))
    assert (failed.kind, failed.message) == ("runtime_error", message)


async def test_an_upload_that_is_a_symbolic_link_is_refused(sandbox, sandbox_dir):
    link = sandbox_dir / "files" / "link"
    link.symlink_to(sandbox_dir / "secret.txt")
    failed = await failure(sandbox.run(Code(runtime="python", entrypoint=link), None, timeout_s=10))
    assert failed.message == "The script is outside the scripts folder."


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs scripts as another user")
async def test_root_is_told_when_others_may_not_read_a_script(sandbox, scripts):
    secret = scripts / "reports" / "secret.py"
    secret.write_text("print(1)")
    secret.chmod(0o600)
    failed = await failure(sandbox.run(Code(runtime="python", entrypoint=secret), None, timeout_s=10))
    assert "must be readable by every user" in failed.message
