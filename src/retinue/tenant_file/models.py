from retinue.kit.db.models import TenantRecord, table


@table(
    "tenant_file_names",
    prefix="tfn",
    unique=[("tenant_id", "section", "name"), ("tenant_id", "section", "record_id")],
)
class FileName(TenantRecord, kw_only=True):
    """The name under which a file knows a record, if it is not the record's own (ADR 34)."""

    section: str
    name: str
    record_id: str
