"""Agno's AgentOS with one agent and its SQLite store; run by the Python that has it installed.

python -m bench.peers.agno_server PORT URL-OF-THE-PROVIDER FOLDER
"""

import sys

import uvicorn
from agno.agent import Agent  # type: ignore[import-not-found]
from agno.db.sqlite import SqliteDb  # type: ignore[import-not-found]
from agno.models.openai import OpenAILike  # type: ignore[import-not-found]
from agno.os import AgentOS  # type: ignore[import-not-found]

port, provider, folder = sys.argv[1:]
agent = Agent(
    id="bench",
    model=OpenAILike(id="words", api_key="sk-bench", base_url=provider),
    db=SqliteDb(db_file=f"{folder}/agno.db"),
    instructions="You are a friendly assistant. Answer briefly.",
    telemetry=False,
)
uvicorn.run(
    AgentOS(agents=[agent], telemetry=False).get_app(), port=int(port), access_log=False, log_level="error"
)
