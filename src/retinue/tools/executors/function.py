"""`function`: code in the tool's configuration, whose `main` receives the input."""

from typing import Any

from retinue.adapters.sandbox import Code
from retinue.tools.config.shapes import FunctionToolConfig, parse_run_config
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.sandbox import require_packages, require_runtime, run_code


async def run(call: ExecutorCall) -> Any:
    config = parse_run_config(call.config, FunctionToolConfig)
    code = Code(runtime=require_runtime(config.runtime), source=config.code, packages=require_packages(call))
    return await run_code(call, code)
