"""`function` tools: code that comes with the tool runs in the sandbox, and only there."""

import pytest

from retinue.adapters.sandbox import LocalSandbox, Sandbox
from tests.services import in_each

pytestmark = pytest.mark.either_database

RUNTIMES = {
    "python": "def main(input):\n    print('seen', input['n'])\n    return {'double': input['n'] * 2}",
    "javascript": "function main(input) { console.log('seen', input.n); return {double: input.n * 2}; }",
}


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    """One for all tests here: starting it takes longer than any of them."""
    opened = LocalSandbox(tmp_path_factory.mktemp("sandbox"))
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def _shared_sandbox(service, sandbox, monkeypatch):
    in_each(service, lambda one: monkeypatch.setitem(one.instance.adapters, Sandbox, sandbox))


def function(runtime, code, **more):
    return {"runtime": runtime, "code": code, **more}


@pytest.mark.parametrize(
    "runtime", ["python", "Python3.11", "python-3", "javascript", "node18", "js", "deno", "NodeJS"]
)
async def test_the_input_goes_in_and_what_is_returned_comes_out(tools, runtime):
    language = "python" if runtime.lower().startswith("python") else "javascript"
    done = await tools.run("function", function(runtime, RUNTIMES[language]), {"n": 21})
    assert (done["status"], done["output"]) == ("completed", {"double": 42}), done
    assert done["logs"] == "seen 21\n"


@pytest.mark.parametrize(
    ("runtime", "code", "message"),
    [
        (
            "python",
            "def main(input):\n    print('before')\n    raise ValueError('no such customer')",
            "no such customer",
        ),
        ("python", "def main(input:", "SyntaxError"),
        (
            "js",
            "function main() { console.log('before'); throw new Error('no such customer') }",
            "no such customer",
        ),
        ("js", "function main( {", "SyntaxError"),
    ],
)
async def test_what_the_code_raises_is_the_error(tools, runtime, code, message):
    done = await tools.run("function", function(runtime, code))
    assert (done["status"], done["error"]["code"]) == ("failed", "runtime_error"), done
    assert message in done["error"]["message"]
    assert ("before\n" in done["logs"]) == ("before" in code)
    assert message in done["logs"]


@pytest.mark.parametrize(
    ("runtime", "code"),
    [
        ("python", "def main(input):\n    while True: pass"),
        ("js", "function main() { while (true) {} }"),
    ],
)
async def test_code_that_does_not_end_is_stopped(tools, runtime, code):
    done = await tools.run("function", function(runtime, code, timeout_ms=300))
    assert (done["status"], done["error"]["code"]) == ("timeout", "timeout"), done


@pytest.mark.parametrize(
    ("runtime", "code"),
    [
        ("python", "def main(input):\n    return 'x' * 2_000_000"),
        ("js", "function main() { return 'x'.repeat(2000000) }"),
    ],
)
async def test_an_output_that_is_too_large_is_refused(tools, runtime, code):
    done = await tools.run("function", function(runtime, code))
    assert done["error"]["code"] == "output_too_large", done


@pytest.mark.parametrize(
    ("runtime", "code"),
    [
        ("python", "def main(input):\n    return len(bytearray(2_000_000_000))"),
        ("js", "function main() { const all = []; while (true) all.push(new ArrayBuffer(1e7)) }"),
    ],
)
async def test_code_that_takes_all_the_memory_is_stopped(tools, runtime, code):
    done = await tools.run("function", function(runtime, code))
    assert done["error"]["code"] == "memory_exceeded", done


async def test_code_does_not_see_the_servers_environment(tools, monkeypatch):
    monkeypatch.setenv("RETINUE_CANARY", "canary-4711-in-the-environment")
    done = await tools.run(
        "function", function("python", "import os\ndef main(input): return dict(os.environ)")
    )
    assert done["status"] == "completed"
    assert "RETINUE_CANARY" not in done["output"]
    assert "canary-4711" not in str(done)


@pytest.mark.parametrize(
    "code",
    [
        "def main(input): return open('/proc/1/environ').read()",
        "def main(input): return open('/etc/shadow').read()",
        "import socket\ndef main(input): return str(socket.create_connection(('127.0.0.1', 5432), 2))",
        "import subprocess\ndef main(input): return subprocess.check_output(['id'])",
    ],
)
async def test_code_reaches_nothing_of_the_server(tools, code):
    done = await tools.run("function", function("python", code))
    assert (done["status"], done["error"]["code"]) == ("failed", "runtime_error"), done


@pytest.mark.parametrize("runtime", ["ruby", "", "bash", "perl -e"])
async def test_another_runtime_is_not_configured(tools, runtime):
    done = await tools.execute(await tools.make_unchecked("function", function(runtime, "main = 1")))
    assert done["error"]["code"] == "not_configured"


@pytest.mark.parametrize("missing", ["runtime", "code"])
async def test_a_function_without_code_is_not_configured(tools, missing):
    config = function("python", "def main(input): return 1")
    del config[missing]
    done = await tools.run("function", config)
    assert done["error"] == {"code": "not_configured", "message": f"config.{missing} is required."}


@pytest.mark.parametrize("status", ["resolving", "failed"])
async def test_code_whose_packages_are_not_there_does_not_run(tools, status):
    config = function("python", "def main(input): return 1", packages=["requests"])
    tool = await tools.make_unchecked(
        "function", config, packages_status=status, packages_error="No such package."
    )
    done = await tools.execute(tool)
    assert (done["status"], done["error"]["code"]) == ("failed", "packages_unavailable")
    assert ("No such package." in done["error"]["message"]) == (status == "failed")
