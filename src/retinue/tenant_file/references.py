"""Ids in a portable form: `@agents/Support` is the agent of that name in any tenant."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from retinue.credentials.models import Credential
from retinue.embed.models import EmbedKey
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, Invalid
from retinue.kit.json_types import JsonObject
from retinue.providers.models import ProviderKey
from retinue.tenant_file.document import MAX_KEY_LENGTH
from retinue.tenant_file.models import FileName
from retinue.users.models import User

# What a file may name but not describe: the record, the field that names it, and the permission to see it.
_OUTSIDE: dict[str, tuple[type[Any], str, str]] = {
    "credentials": (Credential, "name", "credentials:read"),
    "users": (User, "email", "admin:users"),
    "embed_keys": (EmbedKey, "name", "embed_keys:read"),
    "provider_keys": (ProviderKey, "name", "api_keys:read"),
}
READ_KEYS = {
    "data_tables": "data_tables:read",
    "tools": "tools:read",
    "agents": "agents:read",
    "workflows": "workflows:read",
    "forms": "forms:read",
    "notification_channels": "notification_channels:read",
    "webhooks": "webhooks:read",
    "incoming_webhooks": "webhooks:read",
    "subscriptions": "events:read",
    "budgets": "usage:read",
    "trace_exporters": "traces:read",
    "agent_documents": "agents:read",
    **{section: key for section, (_, _, key) in _OUTSIDE.items()},
}
_REFERENCE = re.compile(rf"@({'|'.join(READ_KEYS)})/(.+)", re.DOTALL)

NaturalName = Callable[["ReferenceIndex", Any], str]


class ReferenceIndex:
    """The records that the caller may see, by section and name, and the reference to each by its id."""

    def __init__(self, ctx: Context) -> None:
        self.records: dict[str, JsonObject] = {}
        self.stored: list[FileName] = []
        self.described: frozenset[str] = frozenset()
        """The sections of the file, in which it says itself which of several objects of a name it means."""
        self._references: dict[str, str] = {}
        self._ambiguous: dict[str, int] = {}
        self._role = ctx.principal.role or ctx.principal.kind

    @classmethod
    async def read(cls, ctx: Context) -> "ReferenceIndex":
        """Return the index with what a file may only name; `add_section` adds what it describes."""
        names = cls(ctx)
        names.stored = await ctx.db.all(FileName)
        for section, (record, field, permission) in _OUTSIDE.items():
            if ctx.principal.may(permission):
                names._add_outside(section, field, await ctx.db.all(record, order_by=(field, "id")))
        return names

    def _add_outside(self, section: str, field: str, records: Iterable[Any]) -> None:
        by_name: dict[str, list[Any]] = {}
        for record in records:
            by_name.setdefault(getattr(record, field), []).append(record)
        # A name that several have would be ambiguous, so their ids are kept.
        self.records[section] = {name: same[0] for name, same in by_name.items() if len(same) == 1}
        for name, record in self.records[section].items():
            self._references[record.id] = f"@{section}/{name}"
        self._ambiguous |= {
            f"@{section}/{name}": len(same) for name, same in by_name.items() if len(same) > 1
        }

    def add_section(self, section: str, records: Iterable[Any], natural_name: NaturalName) -> None:
        """Name the records: as a file named them, or else by their own name, with a number if it is taken."""
        known = {stored.record_id: stored.name for stored in self.stored if stored.section == section}
        self.records[section] = {}
        unnamed = []
        for record in records:
            if record.id in known:
                self.add(section, known[record.id], record)
            else:
                unnamed.append(record)
        same_name: dict[str, list[str]] = {}
        for record in unnamed:
            natural = natural_name(self, record)
            taken = self.records[section]
            key = next(key for key in _candidates(natural) if key not in taken)
            self.add(section, key, record)
            same_name.setdefault(natural, []).append(f"@{section}/{key}")
        for references in same_name.values():
            if len(references) > 1:
                self._ambiguous |= dict.fromkeys(references, len(references))

    def add(self, section: str, name: str, record: Any) -> None:
        self.records[section][name] = record
        self._references[record.id] = f"@{section}/{name}"

    def key_of(self, id: str) -> str:
        """Return the name of a record without its section, or its id if the caller may not see it."""
        return self._references.get(id, id).partition("/")[2] or id

    def to_references(self, value: object) -> Any:
        """Return the value with references in place of ids."""
        if isinstance(value, str):
            reference = self._references.get(value, value)
            # A name that several have would not say in another file which one is meant; the id does.
            return value if self._is_ambiguous(reference) else reference
        if isinstance(value, dict):
            return {name: self.to_references(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.to_references(inner) for inner in value]
        return value

    def to_ids(self, value: object, place: str) -> Any:
        """Return the value with this tenant's ids in place of references; unknown ones raise Invalid."""
        if isinstance(value, str):
            found = self.find(value, place)
            return value if found is None else str(found.id)
        if isinstance(value, dict):
            return {name: self.to_ids(inner, f"{place}.{name}") for name, inner in value.items()}
        if isinstance(value, list):
            return [self.to_ids(inner, f"{place}.{index}") for index, inner in enumerate(value)]
        return value

    def get(self, text: object) -> Any:
        """Return the record that a reference names, or None if there is none that the caller may see."""
        match = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            return None
        return self.records.get(match[1], {}).get(match[2])

    def find(self, text: str, place: str) -> Any:
        """Return the record that a reference names, or None if the text is none."""
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return None
        section = match[1]
        if section not in self.records:
            raise Forbidden(READ_KEYS[section], self._role)
        if problem := self.problem(text):
            raise Invalid({place.strip("."): problem})
        return self.records[section][match[2]]

    def problem(self, text: str) -> str:
        """Return why a reference names no single record; empty if it does, or is none, or may not be seen."""
        match = _REFERENCE.fullmatch(text)
        section = match[1] if match else ""
        if match is None or section not in self.records:
            return ""
        if self._is_ambiguous(text):
            count = self._ambiguous[text]
            return f"{text} is ambiguous: {count} {section} have this name. Rename one, or write the id."
        return "" if match[2] in self.records[section] else f"{text} does not exist"

    def _is_ambiguous(self, reference: str) -> bool:
        return reference in self._ambiguous and reference[1:].partition("/")[0] not in self.described

    def namesakes(self, location: str) -> int:
        """Return how many objects have the name of this one, without a file having told them apart."""
        return self._ambiguous.get(f"@{location}", 0)


def _candidates(natural: str) -> Iterator[str]:
    """Yield `Support`, `Support #2`, `Support #3` and so on."""
    stem = "".join(letter if letter.isprintable() else " " for letter in natural)[: MAX_KEY_LENGTH - 10]
    stem = stem if stem.strip() else "unnamed"
    yield stem
    number = 1
    while True:
        number += 1
        yield f"{stem} #{number}"
