"""Incoming webhooks. Until the secret of a new one is entered, it refuses what it receives."""

from retinue.incoming import service
from retinue.incoming.models import IncomingWebhook, VerificationType
from retinue.incoming.schemas import IncomingWebhookCreate, IncomingWebhookUpdate
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.webhook_signing import new_signing_secret
from retinue.tenant_file.document import convert_values
from retinue.tenant_file.integration_parts import IncomingWebhookPart, VerificationPart
from retinue.tenant_file.planner import PlannedChange
from retinue.tenant_file.references import ReferenceIndex
from retinue.tenant_file.sections.base import FileSection, load_all, own_name, shown_name, wanted_name


async def _export(_ctx: Context, names: ReferenceIndex, hook: IncomingWebhook) -> IncomingWebhookPart:
    is_verified = hook.verification_type is not VerificationType.none
    verification = VerificationPart(type=hook.verification_type.value, header=hook.verification_header)
    return IncomingWebhookPart(
        name=shown_name(names, hook),
        description=hook.description,
        workflow=names.to_references(hook.workflow_id),
        active=hook.active,
        verification=verification if is_verified else None,
        dedupe_header=hook.dedupe_header,
        own_secrets=is_verified,
    )


def _fields(
    names: ReferenceIndex, change: PlannedChange, stored: IncomingWebhook | None = None
) -> JsonObject:
    part = change.part
    fields: JsonObject = {
        "name": wanted_name(change),
        "description": part.description,
        "workflow_id": names.to_ids(part.workflow, "workflow"),
        "active": part.active,
        "dedupe_header": part.dedupe_header,
        "verification": None,
    }
    if part.verification is not None:
        wanted: JsonObject = {"type": part.verification.type, "header": part.verification.header}
        if part.verification.type != VerificationType.none and _needs_secret(wanted["type"], stored):
            # Nobody knows it: every request is refused until somebody enters the sender's secret.
            wanted["secret"] = new_signing_secret()
        fields["verification"] = wanted
    return fields


def _needs_secret(type: str, stored: IncomingWebhook | None) -> bool:
    return stored is None or stored.secret is None or stored.verification_type != type


async def _create(ctx: Context, names: ReferenceIndex, change: PlannedChange) -> IncomingWebhook:
    return await service.create(ctx, convert_values(IncomingWebhookCreate, _fields(names, change)))


async def _update(ctx: Context, names: ReferenceIndex, change: PlannedChange, hook: IncomingWebhook) -> None:
    await service.update(ctx, hook, convert_values(IncomingWebhookUpdate, _fields(names, change, hook)))


SECTION = FileSection(
    name="incoming_webhooks",
    write_key="webhooks:write",
    load=load_all(IncomingWebhook),
    natural_name=own_name,
    export=_export,
    create=_create,
    update=_update,
    delete=service.delete,
    secrets_note="the secret of its verification",
)
