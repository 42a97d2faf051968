from typing import Annotated

from retinue.kit.http.routing import path_loader
from retinue.tools.errors import ToolExecutionNotFound, ToolNotFound
from retinue.tools.models import Tool, ToolExecution

ToolById = Annotated[Tool, path_loader(Tool, "tool_id", ToolNotFound)]
ExecutionById = Annotated[ToolExecution, path_loader(ToolExecution, "execution_id", ToolExecutionNotFound)]
