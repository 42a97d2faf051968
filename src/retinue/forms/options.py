"""What can be chosen in a field: said by the form, or the rows of a data table."""

from typing import Any

from retinue.forms.errors import FieldNotFound
from retinue.forms.opening import OpenForm
from retinue.forms.schemas import Option, OptionsQuery
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.fields import FieldError, options_of
from retinue.tables import service as tables
from retinue.tables.loaders import fetch_table
from retinue.tables.models import DataTable

Json = dict[str, Any]


async def options(ctx: Context, form: OpenForm, field_id: str, query: OptionsQuery) -> list[Option]:
    field = form.fields.by_id.get(field_id)
    if field is None:
        raise FieldNotFound
    source = field.definition.get("data_source")
    if source is None:
        return _static(field.definition, query)
    try:
        return await _rows(ctx, source, query)
    except RetinueError as error:
        # A table or a column that is gone offers nothing.
        if error.status >= 500:
            raise
        return []


def _static(definition: Json, query: OptionsQuery) -> list[Option]:
    wanted = (query.search or "").casefold()
    found = [Option(**one) for one in options_of(definition) if wanted in str(one["label"]).casefold()]
    return found[: query.limit]


async def _rows(ctx: Context, source: Json, query: OptionsQuery) -> list[Option]:
    value, label = source["value_column"], source.get("label_column") or source["value_column"]
    table = await fetch_table(ctx, source["table_id"])
    known = {"id", "created_at", "updated_at", *(column.name for column in table.columns)}
    if value not in known or label not in known:
        return []
    filter = {label: {"contains": query.search}} if query.search else None
    rows = await tables.find_rows(ctx, table.id, filter, limit=query.limit)
    return [
        Option(value=row[value], label=str(row[value] if row[label] is None else row[label]))
        for row in rows
        if row[value] is not None
    ]


async def wrong_choices(ctx: Context, form: OpenForm, values: Json) -> list[FieldError]:
    """Answers that are none of the rows their field offers; of a table that is gone anything will do."""
    errors = []
    for field in form.fields.asked:
        source = field.definition.get("data_source")
        if source is None or field.id not in values or options_of(field.definition):
            continue
        value = values[field.id]
        for one in value if isinstance(value, list) else [value]:
            if not await _is_offered(ctx, source, one):
                errors.append(FieldError(field.id, "is not one of the options"))
                break
    return errors


async def _is_offered(ctx: Context, source: Json, value: Any) -> bool:
    name = source["value_column"]
    table = await ctx.db.get(DataTable, source["table_id"])
    if table is None or name not in {column.name for column in table.columns}:
        return True
    try:
        return bool(await tables.find_rows(ctx, table.id, {name: value}, limit=1))
    except Invalid:
        return False
