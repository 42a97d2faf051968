"""Ids in a portable form: `@agents/Support` is the agent of that name in any tenant."""

import re
from typing import Any

from retinue.agents.models import Agent
from retinue.credentials.models import Credential
from retinue.forms.models import Form
from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.errors import InternalError, Invalid
from retinue.kit.json_types import JsonObject
from retinue.notifications.models import Channel
from retinue.tables.models import DataTable
from retinue.tools.models import Tool
from retinue.users.models import User
from retinue.workflows.models import Workflow

# The record type of each section and the field that identifies its records.
_IDENTITY_FIELDS: dict[str, tuple[type[Record], str]] = {
    "data_tables": (DataTable, "slug"),
    "tools": (Tool, "slug"),
    "agents": (Agent, "name"),
    "workflows": (Workflow, "name"),
    "forms": (Form, "name"),
    "credentials": (Credential, "name"),
    "channels": (Channel, "name"),
    "users": (User, "email"),
}
_FILE_SECTIONS = frozenset({"data_tables", "tools", "agents", "workflows", "forms"})
_REFERENCE = re.compile(rf"@({'|'.join(_IDENTITY_FIELDS)})/(.+)", re.DOTALL)


class NameTaken(InternalError):
    """Two records have the same name, which must be unique in a file. Rename one of them."""


class ReferenceIndex:
    """Records by section and name, and the reference to each by its id."""

    def __init__(self) -> None:
        self.records: dict[str, JsonObject] = {section: {} for section in _IDENTITY_FIELDS}
        self._references: dict[str, str] = {}

    @classmethod
    async def read(cls, ctx: Context) -> "ReferenceIndex":
        names = cls()
        for section, (record, field) in _IDENTITY_FIELDS.items():
            top_level_filter = {"parent_id": None} if record is Agent else {}
            for item in await ctx.db.all(record, order_by=(field, "id")):
                if top_level_filter and getattr(item, "parent_id", None) is not None:
                    continue
                names.add(section, getattr(item, field), item)
        return names

    def add(self, section: str, name: str, record: Any) -> None:
        records = self.records[section]
        if name in records:
            if section in _FILE_SECTIONS:
                raise NameTaken(f"Two {section} are named {name}. Rename one of them first.")
            # The name would be ambiguous, so the id is kept.
            self._references.pop(records[name].id, None)
            return
        records[name] = record
        self._references[record.id] = f"@{section}/{name}"

    def to_references(self, value: object) -> Any:
        """Return the value with references in place of ids."""
        if isinstance(value, str):
            return self._references.get(value, value)
        if isinstance(value, dict):
            return {name: self.to_references(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.to_references(inner) for inner in value]
        return value

    def to_ids(self, value: object, place: str) -> Any:
        """Return the value with this tenant's ids in place of references; unknown ones raise Invalid."""
        if isinstance(value, str):
            return self._id(value, place)
        if isinstance(value, dict):
            return {name: self.to_ids(inner, f"{place}.{name}") for name, inner in value.items()}
        if isinstance(value, list):
            return [self.to_ids(inner, f"{place}.{index}") for index, inner in enumerate(value)]
        return value

    def _id(self, text: str, place: str) -> str:
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return text
        record = self.records[match[1]].get(match[2])
        if record is None:
            raise Invalid({place: f"{text} does not exist"})
        return str(record.id)
