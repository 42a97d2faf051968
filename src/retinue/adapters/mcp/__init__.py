"""A small client of the Model Context Protocol over Streamable HTTP that lists and calls tools."""

from retinue.adapters.mcp.client import McpClient
from retinue.adapters.mcp.errors import McpFailed
from retinue.adapters.mcp.messages import McpListing, McpResult, McpServer, McpTool

__all__ = ["McpClient", "McpFailed", "McpListing", "McpResult", "McpServer", "McpTool"]
