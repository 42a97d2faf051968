"""What a warm function costs: CPU of the process that runs it, and of the server around it."""

import statistics
import tempfile
import time
from pathlib import Path

from bench.figures import Figure
from retinue.adapters.sandbox import Code, LocalSandbox

CALLS = 60
WARMING = 5
GOAL_MS = 10.0
INPUT = {"prices": [19, 4, 7]}
FUNCTIONS = {
    "Python": Code(runtime="python", source="def main(input):\n    return {'total': sum(input['prices'])}"),
    "Python, async": Code(
        runtime="python", source="async def main(input):\n    return {'total': sum(input['prices'])}"
    ),
    "JavaScript": Code(
        runtime="javascript",
        source="function main(input) { return {total: input.prices.reduce((a, b) => a + b)} }",
    ),
    "JavaScript, async": Code(
        runtime="javascript",
        source="async function main(input) { return {total: input.prices.reduce((a, b) => a + b)} }",
    ),
}


async def _cpu_ms(sandbox: LocalSandbox, code: Code) -> float:
    """Milliseconds for one call; the median of the children, and our own share of them all."""
    inside = []
    for number in range(WARMING + CALLS):
        if number == WARMING:
            before = time.process_time()
        outcome = await sandbox.run(code, INPUT, timeout_s=10)
        if outcome.output != {"total": 30}:
            raise RuntimeError(f"the function gave {outcome.output}")
        inside.append(outcome.cpu_ms or 0.0)
    outside = (time.process_time() - before) / CALLS * 1000
    return statistics.median(inside[WARMING:]) + outside


async def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        sandbox = LocalSandbox(Path(folder))
        try:
            return [
                Figure(f"warm function, {name}", await _cpu_ms(sandbox, code), "ms CPU", GOAL_MS)
                for name, code in FUNCTIONS.items()
            ]
        finally:
            await sandbox.close()
