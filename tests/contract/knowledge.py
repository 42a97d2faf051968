"""Types of a domain's contract; each tests/<domain>/contract.py declares its own as `CONTRACT`."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.users.models import User
from tests.adapters.llm_server import ProviderServer
from tests.client import Api
from tests.factories.people import People

FAR = "2999-01-01T00:00:00.000000Z"


@dataclass
class World:
    """A tenant in which every domain makes one of everything that a path can name."""

    ctx: Context
    owner: User
    member: User
    """Somebody else, who may be of another tenant."""
    name: str
    """Is in the text of every record."""
    wanted: Collection[str] | None = None
    """The path parameters that are asked for; None for all."""
    ids: dict[str, str] = field(default_factory=dict)
    """Ids of the objects that were made so far, by path parameter."""

    def wants(self, *parameters: str) -> bool:
        return self.wanted is None or not set(parameters).isdisjoint(self.wanted)


@dataclass
class Scene:
    """The surroundings of a call: `me` is a signed-in administrator of a tenant, `user` their record."""

    service: Service
    clock: ManualClock
    people: People
    api: Api
    admin: Api
    user: User
    me: Api
    provider: ProviderServer


@dataclass
class Call:
    caller: Api
    body: dict[str, Any]
    path: dict[str, str] = field(default_factory=dict)


@dataclass
class Write:
    """`changes` are the columns of existing rows that may change, `inserts` how many rows are new.

    With `refuses_unknown` the keys of the body are the caller's own columns, and any other is 422.
    """

    prepare: Callable[[Scene], Awaitable[Call]]
    changes: set[str]
    inserts: dict[str, int]
    refuses_unknown: bool = False


async def _nothing(*_: Any) -> dict[str, str]:
    return {}


@dataclass
class DomainContract:
    """Knowledge of one domain; routes are named as in the route table."""

    records: tuple[type[Record], ...] = ()
    """The tables whose rows are compared before and after a write."""
    make: Callable[[World], Awaitable[dict[str, str]]] = _nothing
    """Makes one of everything that its paths name; returns ids by path parameter."""
    upload: Callable[[Api, Collection[str]], Awaitable[dict[str, str]]] = _nothing
    """Uploads what must have content, through the API."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """Path parameters that are one of a few words."""
    shared: set[str] = field(default_factory=set)
    """Path parameters that name no tenant's object."""
    uploads: dict[str, tuple[str, bytes, str]] = field(default_factory=dict)
    """The file that a route takes, where it is no picture."""
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    """The fields that a route takes beside its file."""
    calls: dict[str, Write] = field(default_factory=dict)
    """Calls of the routes that take a body, made so that they succeed."""

    def writes(self, changes: str = "", *, refuses_unknown: bool = False, **inserts: int) -> Any:
        """Declare how to call the route of the same name, and what that may change."""

        def declare(prepare: Any) -> Any:
            self.calls[prepare.__name__] = Write(prepare, set(changes.split()), inserts, refuses_unknown)
            return prepare

        return declare
