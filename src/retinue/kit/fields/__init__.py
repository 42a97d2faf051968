"""Form fields: what a form asks for, and the one check of what was answered.

The page, the API, the conversation and approvals all ask `Fields.check`, so none of them lets through what
another refuses. Nothing here reads or stores anything.
"""

from retinue.kit.fields.checking import Checked, FieldError, Fields, compiled
from retinue.kit.fields.definitions import (
    CHOICES,
    STATIC,
    FieldType,
    allowed_endings,
    max_file_bytes,
    options_of,
    read_fields,
)

__all__ = [
    "CHOICES",
    "STATIC",
    "Checked",
    "FieldError",
    "FieldType",
    "Fields",
    "allowed_endings",
    "compiled",
    "max_file_bytes",
    "options_of",
    "read_fields",
]
