"""The real MCP server of the tests in a process of its own, and a way to change its tools."""

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parents[2] / "adapters" / "mcp_server.py"

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def listed_tool(name: str, schema: Any = TEXT, **more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    return {"name": name, "inputSchema": schema, **more}


FIND = listed_tool("find-issue", title="Find", description="Finds an issue.")
CLOSE = listed_tool("close_issue", description="Closes it for good.", annotations={"destructiveHint": True})


@dataclass(frozen=True)
class McpProcess:
    origin: str

    def url(self, way: str = "changing") -> str:
        return f"{self.origin}/{way}/"

    def has_tools(self, *tools: dict[str, Any]) -> None:
        """Decide what `/changing` offers from now on."""
        content = json.dumps(tools).encode()
        urllib.request.urlopen(f"{self.origin}/changing-tools", content, timeout=10).close()


@contextlib.contextmanager
def mcp_process() -> Iterator[McpProcess]:
    process = subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    yield McpProcess(f"http://127.0.0.1:{int(process.stdout.readline())}")
    process.communicate(timeout=10)
