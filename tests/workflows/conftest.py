"""The counterparts of nodes: a scripted model, an API somewhere else, a mail server, a table."""

from typing import Any

import pytest

from tests.chat.conftest import agent, remote
from tests.client import Api
from tests.notifications.conftest import mail_server

__all__ = ["agent", "mail_server", "remote", "table"]


@pytest.fixture
async def table(admin: Api) -> dict[str, Any]:
    columns = [{"name": "name", "type": "text"}, {"name": "n", "type": "integer"}]
    answer = await admin.post("/api/v1/data-tables", {"name": "Rows", "columns": columns})
    assert answer.status == 201, answer
    return dict(answer.json()["data"])
