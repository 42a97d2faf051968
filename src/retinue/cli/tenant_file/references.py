"""Ids as a file can carry them: `@agents/Support` is the agent of that name in whichever tenant."""

import re
from typing import Any

from retinue.agents.models import Agent
from retinue.credentials.models import Credential
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.errors import Conflict, Invalid
from retinue.notifications.models import Channel
from retinue.tables.models import DataTable
from retinue.tools.models import Tool
from retinue.users.models import User
from retinue.workflows.models import Workflow

# What each section is made of, and the field that is its identity there.
_NAMED: dict[str, tuple[type[Record], str]] = {
    "data_tables": (DataTable, "slug"),
    "tools": (Tool, "slug"),
    "agents": (Agent, "name"),
    "workflows": (Workflow, "name"),
    "forms": (Form, "name"),
    "credentials": (Credential, "name"),
    "channels": (Channel, "name"),
    "users": (User, "email"),
}
_OWN = frozenset({"data_tables", "tools", "agents", "workflows", "forms"})
_REFERENCE = re.compile(rf"@({'|'.join(_NAMED)})/(.+)", re.DOTALL)


class NameTaken(Conflict):
    """Two records have the same name, which is their identity in a file."""


class Names:
    """Records by section and name, and the reference to each of them by its id."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {section: {} for section in _NAMED}
        self._references: dict[str, str] = {}

    @classmethod
    async def read(cls, ctx: Context) -> "Names":
        names = cls()
        for section, (record, field) in _NAMED.items():
            more = {"parent_id": None} if record is Agent else {}
            for one in await ctx.db.all(record, order_by=(field, "id")):
                if more and getattr(one, "parent_id", None) is not None:
                    continue
                names.add(section, getattr(one, field), one)
        return names

    def add(self, section: str, name: str, record: Any) -> None:
        known = self.records[section]
        if name in known:
            if section in _OWN:
                raise NameTaken(f"Two {section} are named {name}; rename one of them first.")
            # Which one is meant could not be said by name, so its id stays what it is.
            self._references.pop(known[name].id, None)
            return
        known[name] = record
        self._references[record.id] = f"@{section}/{name}"

    def named(self, value: Any) -> Any:
        """The same value with references in place of ids."""
        if isinstance(value, str):
            return self._references.get(value, value)
        if isinstance(value, dict):
            return {name: self.named(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.named(inner) for inner in value]
        return value

    def resolved(self, value: Any, place: str) -> Any:
        """The same value with the ids of this tenant; what nobody has is refused with its place."""
        if isinstance(value, str):
            return self._id(value, place)
        if isinstance(value, dict):
            return {name: self.resolved(inner, f"{place}.{name}") for name, inner in value.items()}
        if isinstance(value, list):
            return [self.resolved(inner, f"{place}.{index}") for index, inner in enumerate(value)]
        return value

    def _id(self, text: str, place: str) -> str:
        found = _REFERENCE.fullmatch(text)
        if found is None:
            return text
        record = self.records[found[1]].get(found[2])
        if record is None:
            raise Invalid({place: f"there is no {text}"})
        return str(record.id)
