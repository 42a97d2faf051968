"""The mail queue: mails are stored with the transaction and sent after it, sealed because of their links."""

import msgspec

from retinue.adapters.mail.message import Mail, Mailer, parse_recipient
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.jobs.declare import JobKind, Retry, implement


@table("outgoing_mails", prefix="mail")
class OutgoingMail(TenantRecord, kw_only=True):
    """A mail waiting to be sent; sending it deletes the row."""

    content: Sealed


class MailToSend(msgspec.Struct):
    mail_id: str


SEND_MAIL = JobKind("mail.send", MailToSend, queue="mail", retry=Retry((0, 30, 300, 1800, 7200)))


async def enqueue_mail(ctx: Context, mail: Mail) -> None:
    """Send this mail after the transaction is committed."""
    parse_recipient(mail.to)
    stored = await ctx.db.insert(OutgoingMail(content=Sealed.of(msgspec.json.encode(mail))))
    ctx.defer(SEND_MAIL, MailToSend(mail_id=stored.id))


async def send_mail(ctx: Context, payload: MailToSend) -> None:
    stored = await ctx.db.get(OutgoingMail, payload.mail_id)
    if stored is None:
        return
    mail = msgspec.json.decode(stored.content.open(ctx.instance.ring), type=Mail)
    await ctx.adapter(Mailer).send(mail)
    async with ctx.unit() as unit:
        await unit.db.delete(stored)


manifest = Manifest(
    name="mail", records=(OutgoingMail,), jobs=(implement(SEND_MAIL, send_mail, transactional=False),)
)
