"""Exports a tenant as a document."""

from collections.abc import Collection

from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.tenant_file.document import FORMAT_VERSION, SECTION_NAMES, TenantDocument
from retinue.tenant_file.references import READ_KEYS, ReferenceIndex
from retinue.tenant_file.sections import SECTIONS


async def read_names(ctx: Context) -> ReferenceIndex:
    """Return everything that the caller may see, by section and name."""
    names = await ReferenceIndex.read(ctx)
    for name, section in SECTIONS.items():
        if ctx.principal.may(READ_KEYS[name]):
            names.add_section(name, await section.load(ctx), section.natural_name)
    return names


async def export(ctx: Context, names: ReferenceIndex, section_names: Collection[str]) -> TenantDocument:
    """Return the wanted sections; those that the caller may not read are left out, with a warning."""
    names.described = frozenset(section_names)
    sections: JsonObject = {}
    warnings = []
    for name in SECTION_NAMES:
        if name in section_names and name not in names.records:
            warnings.append(f"{name} is left out: this needs the permission {READ_KEYS[name]}.")
        elif name in section_names:
            records = names.records[name]
            part_of = SECTIONS[name].export
            sections[name] = {key: await part_of(ctx, names, records[key]) for key in sorted(records)}
    return TenantDocument(retinue=FORMAT_VERSION, warnings=warnings, **sections)
