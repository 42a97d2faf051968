"""Calls of a tool that has to authenticate, and what they send."""

import base64

KEY = "sk-4711-secret-value"

HEADERS = ("authorization", "x-api-key", "x-my-key")


def hook(remote, path="/hook"):
    return {"url": f"{remote.url}{path}"}


async def run_and_capture(tools, remote, auth_type, auth_config):
    """Run a tool; return the authentication headers and the target of its call."""
    done = await tools.run("webhook", hook(remote), auth_type=auth_type, auth_config=auth_config)
    assert done["status"] == "completed", done
    headers = {name.lower(): value for name, value in remote.last.headers.items()}
    return {name: headers[name] for name in HEADERS if name in headers}, remote.last.target


def basic(username, password):
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
