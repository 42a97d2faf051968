from typing import Annotated

from retinue.kit.http.routing import loaded
from retinue.tools.errors import ExecutionNotFound, ToolNotFound
from retinue.tools.models import Tool, ToolExecution

ToolById = Annotated[Tool, loaded(Tool, "tool_id", ToolNotFound)]
ExecutionById = Annotated[ToolExecution, loaded(ToolExecution, "execution_id", ExecutionNotFound)]
