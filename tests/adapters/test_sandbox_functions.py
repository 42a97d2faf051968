"""Functions as the contract describes them: which one is called, what it returns, what its errors say."""

import asyncio

import pytest

from retinue.adapters.sandbox import Code
from tests.adapters.sandbox_ways import JAVASCRIPT, PYTHON, failure, on

pytest_plugins = ("tests.adapters.sandbox_fixtures",)

GIVEN = {"a": 1, "text": "é\u2028'\"\\ \U0001f600", "list": [1.5, None, True], "__proto__": {"x": 1}}

PYTHON_FUNCTIONS = {
    "main": "def main(input): return input['a']",
    "handler": "def handler(input): return input['a']",
    "run": "def run(input): return input['a']",
    "execute": "def execute(input): return input['a']",
    "async": "async def main(input): return input['a']",
    "awaiting": "import asyncio\nasync def main(input): return await asyncio.sleep(0.001, input['a'])",
    "the only one": "import math\nfrom json import dumps\ndef anything(input): return input['a']",
    "the only public one": "def _helper(x): return x\ndef anything(input): return _helper(input['a'])",
    "main among others": "def other(x): return 0\ndef run(x): return 0\ndef main(input): return input['a']",
    "a lambda": "main = lambda input: input['a']",
    "an object": "class Adder:\n    def __call__(self, input): return input['a']\nmain = Adder()",
    "a dataclass": """
from dataclasses import dataclass
@dataclass
class Point:
    a: int
def main(input): return Point(input['a']).a
""",
    "not as a program": "if __name__ == '__main__': raise SystemExit\ndef main(input): return input['a']",
}

JAVASCRIPT_FUNCTIONS = {
    "main": "function main(input) { return input.a }",
    "handler": "function handler(input) { return input.a }",
    "run": "const run = (input) => input.a;",
    "execute": "let execute = function (input) { return input.a }",
    "async": "async function main(input) { return input.a }",
    "awaiting": "const main = async (i) => { await new Promise((r) => setTimeout(r, 2)); return i.a }",
    "a promise": "function main(input) { return Promise.resolve(input.a) }",
    "module.exports": "module.exports = (input) => input.a",
    "exports.handler": "exports.handler = async (input) => input.a",
    "export default": "export default function (input) { return input.a }",
    "export default async": "export default async (input) => input.a;",
    "export named": "export const handler = (input) => input.a;",
    "export after": "function main(input) { return input.a }\nexport { main };",
    "a module that exports nothing": "import * as none from 'main.mjs';\nconst main = (input) => input.a;",
    "the only one": "const anything = (input) => input.a",
    "the only declared one": "'use strict';\n// comment\nfunction anything(input) { return input.a }",
    "explicit before names": "function run() { return 0 }\nmodule.exports = (input) => input.a;",
    "main before exports": "function main(input) { return input.a }\nmodule.exports = { other() {} };",
    "a comment at the end": "function main(input) { return input.a } // the end",
    "clearing timers": """
        function main(input) {
          const never = setInterval(() => { throw new Error("no") }, 50_000);
          clearInterval(never);
          return new Promise((resolve) => {
            let ticks = 0;
            const tick = () => { if (++ticks === 3) { clearInterval(timer); resolve(input.a) } };
            const timer = setInterval(tick, 1);
          });
        }
    """,
}


@pytest.mark.parametrize("name", PYTHON_FUNCTIONS)
@on("wasm.python", "bubblewrap.python_functions")
async def test_the_function_of_python_code_is_found(way, name):
    assert (await way(PYTHON_FUNCTIONS[name], {"a": 7})).output == 7


@pytest.mark.parametrize("name", ["main", "awaiting", "the only one"])
@on("bubblewrap.python")
async def test_the_function_of_python_code_with_packages_is_found(way, name):
    assert (await way(PYTHON_FUNCTIONS[name], {"a": 7})).output == 7


@pytest.mark.parametrize("name", JAVASCRIPT_FUNCTIONS)
@on(*JAVASCRIPT)
async def test_the_function_of_javascript_code_is_found(way, name):
    source = JAVASCRIPT_FUNCTIONS[name]
    if way.name == "bubblewrap.node":
        source = source.replace("'main.mjs'", "'node:fs'")
    assert (await way(source, {"a": 7})).output == 7


@on(*PYTHON, *JAVASCRIPT)
async def test_every_json_value_goes_in_and_comes_out_unchanged(way):
    same = (
        "def main(input): return input"
        if way.runtime == "python"
        else "function main(input) { return input }"
    )
    values = [GIVEN, [], {}, "", 0, -1.5, True, None, "x" * 100_000, 2**53 - 1]
    assert (await way(same, values)).output == values
    assert (await way(same, "alone")).output == "alone"


@on(*PYTHON)
async def test_what_python_prints_is_its_log_and_no_output(way):
    source = "import sys\ndef main(input):\n    print('one')\n    print('two', file=sys.stderr)"
    outcome = await way(source)
    assert (outcome.output, sorted(outcome.logs.split())) == (None, ["one", "two"])


@on(*JAVASCRIPT)
async def test_what_javascript_logs_is_its_log_and_no_output(way):
    source = "function main() { console.log('one', 1); console.error('two') }"
    outcome = await way(source)
    assert (outcome.output, sorted(outcome.logs.splitlines())) == (None, ["one 1", "two"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def main(input):\n    raise ValueError('too small')", "ValueError: too small"),
        ("def main(input) return 1", "expected ':'"),
        ("x = 1", "NameError: the code must define a function main(input)"),
        ("def a(x): pass\ndef b(x): pass", "NameError: the code must define a function main(input)"),
        ("def main(input): return object()", "Object of type object is not JSON serializable"),
        ("def main(input): return float('nan')", "Out of range float values are not JSON compliant"),
        ("def main(): pass", "takes 0 positional arguments"),
        ("import sys\ndef main(input): sys.exit(3)", "SystemExit: 3"),
        ("import numpy", "No module named 'numpy'"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("class E(Exception):\n    def __str__(self): raise self\ndef main(x): raise E", "E"),
        ("def main(input):\n    x = []\n    x.append(x)\n    return x", "Circular reference"),
    ],
)
@on("wasm.python", "bubblewrap.python_functions")
async def test_an_error_of_python_code_is_told_as_python_tells_it(way, source, message):
    failed = await failure(way(source))
    assert failed.kind == "runtime_error"
    assert message in failed.message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("function main() { throw new TypeError('too small') }", "TypeError: too small"),
        ("async function main() { throw new Error('later') }", "Error: later"),
        ("function main( {", "SyntaxError"),
        ("const x = 1", "the code must define a function main(input)"),
        ("function a() {}\nfunction b() {}", "the code must define a function main(input)"),
        ("function main() { return () => 1 }", "the return value cannot be converted to JSON"),
        ("function main() { return 10n }", "TypeError"),
        ("function main() { const x = {}; x.x = x; return x }", "TypeError"),
        ("function main() { return missing.x }", "ReferenceError"),
        ("export default 5", "the code must define a function main(input)"),
        ("import x from 'not-there';\nexport default () => x", "not-there"),
    ],
)
@on(*JAVASCRIPT)
async def test_an_error_of_javascript_code_is_told_as_javascript_tells_it(way, source, message):
    failed = await failure(way(source))
    assert failed.kind == "runtime_error"
    assert message in failed.message


@on("wasm.javascript")
async def test_a_promise_that_nobody_keeps_is_an_error_at_once(way):
    failed = await failure(way("function main() { return new Promise(() => {}) }"))
    assert failed.message == "the function awaits a promise that never settles"


@on("bubblewrap.python_functions", "bubblewrap.python")
async def test_the_log_of_an_error_shows_the_lines_of_the_code(way):
    failed = await failure(way("def inner():\n    return 1 / 0\n\ndef main(input):\n    return inner()"))
    assert failed.logs.splitlines()[:3] == [
        "Traceback (most recent call last):",
        '  File "main.py", line 5, in main',
        "    return inner()",
    ]
    assert "start.py" not in failed.logs


@on(*PYTHON)
async def test_nothing_of_a_python_call_is_left_for_the_next(way):
    source = """
import builtins, json, os, sys
def main(input):
    seen = [hasattr(builtins, "left"), hasattr(json, "left"), "left" in sys.modules]
    seen.append(os.path.exists("/tmp/left"))
    builtins.left = json.left = sys.modules["left"] = input
    try:
        open("/tmp/left", "w").close()
    except OSError:
        pass
    return seen
"""
    for _ in range(3):
        assert (await way(source, "secret")).output == [False, False, False, False]


@on(*JAVASCRIPT)
async def test_nothing_of_a_javascript_call_is_left_for_the_next(way):
    source = """
function main(input) {
  const seen = [globalThis.left, Array.prototype.left, JSON.left, String(Object.getPrototypeOf(input).left)];
  globalThis.left = Array.prototype.left = JSON.left = Object.prototype.left = "secret";
  return seen;
}
"""
    for _ in range(3):
        assert (await way(source, {})).output == [None, None, None, "undefined"]


@on("bubblewrap.python_functions")
async def test_calls_draw_different_random_numbers(way):
    source = "import random, uuid\ndef main(input): return [random.random(), str(uuid.uuid4())]"
    drawn = [(await way(source)).output for _ in range(4)]
    assert len({str(each) for pair in drawn for each in pair}) == 8


@on(*PYTHON, *JAVASCRIPT)
async def test_calls_at_the_same_time_keep_to_themselves(way):
    source = (
        "def main(input): return input * 2"
        if way.runtime == "python"
        else "function main(i) { return i * 2 }"
    )
    outcomes = await asyncio.gather(*(way(source, number) for number in range(6)))
    assert [outcome.output for outcome in outcomes] == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize(
    ("runtime", "source"),
    [
        ("python", "def main(input): return sum(range(200_000))"),
        ("javascript", "function main() { return 1 }"),
    ],
)
async def test_the_processor_time_of_a_call_is_told(sandbox, runtime, source):
    outcome = await sandbox.run(Code(runtime=runtime, source=source), None, timeout_s=5)
    assert 0 < outcome.cpu_ms < 1000
