"""Executors by tool type."""

from retinue.tools.executors import custom, database, function, rest_api, script, webhook
from retinue.tools.executors.call import Executor
from retinue.tools.models import ToolType

EXECUTORS: dict[ToolType, Executor] = {
    ToolType.rest_api: rest_api.run,
    ToolType.webhook: webhook.run,
    ToolType.database: database.run,
    ToolType.function: function.run,
    ToolType.script: script.run,
    ToolType.custom: custom.run,
}
