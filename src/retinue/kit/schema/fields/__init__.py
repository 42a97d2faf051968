"""Form fields: their definitions and the validation of answers.

The page, the API, the conversation and approvals all call `Fields.check`, so all accept the same answers.
Nothing here accesses the database.
"""

from retinue.kit.schema.fields.definitions import (
    CHOICES,
    STATIC,
    FieldType,
    allowed_extensions,
    find_missing_condition_values,
    max_file_bytes,
    options_of,
    read_fields,
)
from retinue.kit.schema.fields.validator import CheckedAnswers, FieldError, Fields, compile_fields

__all__ = [
    "CHOICES",
    "STATIC",
    "CheckedAnswers",
    "FieldError",
    "FieldType",
    "Fields",
    "allowed_extensions",
    "compile_fields",
    "find_missing_condition_values",
    "max_file_bytes",
    "options_of",
    "read_fields",
]
