"""`function`: a piece of code that is given with the tool, and whose `main` gets the input."""

from typing import Any

from retinue.adapters.sandbox import Code
from retinue.tools.calls import Call
from retinue.tools.executors.configs import FunctionConfig, read_config
from retinue.tools.executors.sandboxed import packages_of, run_code, runtime_of


async def run(call: Call) -> Any:
    config = read_config(call.config, FunctionConfig)
    code = Code(runtime=runtime_of(config.runtime), source=config.code, packages=packages_of(call))
    return await run_code(call, code)
