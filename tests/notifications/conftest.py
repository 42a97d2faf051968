"""The companies that take notifications, on loopback, and people who send them."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from retinue.adapters.notifiers import SendContext
from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.egress import Egress
from tests.adapters.mail_servers import MailServer, mail_servers
from tests.adapters.notifying_servers import CONFIGS, Vendors, vendors
from tests.services import in_each


@pytest.fixture
async def companies(service: Service, clock: ManualClock) -> AsyncIterator[Vendors]:
    async with vendors() as found:

        def send_there(one: Service) -> None:
            egress = one.instance.adapters[Egress]
            one.instance.adapters[SendContext] = SendContext(egress, clock, dict.fromkeys(CONFIGS, found.url))

        in_each(service, send_there)
        yield found
        assert found.complaints == []


@pytest.fixture
def mail_server(tmp_path: Path) -> Iterator[Callable[..., MailServer]]:
    with mail_servers(tmp_path) as start:
        yield start
