"""Options of a field: from the form itself or from the rows of a data table."""

from retinue.forms.errors import FieldNotFound
from retinue.forms.open_form import OpenForm
from retinue.forms.schemas import Option, OptionsQuery
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import FieldError, options_of
from retinue.kit.text.search import fold_case
from retinue.tables import service as tables
from retinue.tables.loaders import fetch_table
from retinue.tables.models import DataTable


async def list_options(ctx: Context, form: OpenForm, field_id: str, query: OptionsQuery) -> list[Option]:
    field = form.fields.by_id.get(field_id)
    if field is None:
        raise FieldNotFound
    source = field.definition.get("data_source")
    if source is None:
        return _static_options(field.definition, query)
    try:
        return await _table_options(ctx, source, query)
    except RetinueError as error:
        # A deleted table or column offers no options.
        if error.status >= 500:
            raise
        return []


def _static_options(definition: JsonObject, query: OptionsQuery) -> list[Option]:
    search = fold_case(query.search or "")
    options = [Option(**each) for each in options_of(definition) if search in fold_case(str(each["label"]))]
    return options[: query.limit]


async def _table_options(ctx: Context, source: JsonObject, query: OptionsQuery) -> list[Option]:
    value, label = source["value_column"], source.get("label_column") or source["value_column"]
    table = await fetch_table(ctx, source["table_id"])
    names = {"id", "created_at", "updated_at", *(column.name for column in table.columns)}
    if value not in names or label not in names:
        return []
    filter = {label: {"contains": query.search}} if query.search else None
    rows = await tables.find_rows(ctx, table.id, filter, limit=query.limit)
    return [
        Option(value=row[value], label=str(row[value] if row[label] is None else row[label]))
        for row in rows
        if row[value] is not None
    ]


async def find_invalid_choices(ctx: Context, form: OpenForm, values: JsonObject) -> list[FieldError]:
    """Return answers that are not among the offered rows; a deleted table accepts anything."""
    errors = []
    for field in form.fields.asked:
        source = field.definition.get("data_source")
        if source is None or field.id not in values or options_of(field.definition):
            continue
        value = values[field.id]
        for choice in value if isinstance(value, list) else [value]:
            if not await _is_offered(ctx, source, choice):
                errors.append(FieldError(field.id, "is not one of the options"))
                break
    return errors


async def _is_offered(ctx: Context, source: JsonObject, value: object) -> bool:
    name = source["value_column"]
    table = await ctx.db.get(DataTable, source["table_id"])
    if table is None or name not in {column.name for column in table.columns}:
        return True
    try:
        return bool(await tables.find_rows(ctx, table.id, {name: value}, limit=1))
    except Invalid:
        return False
