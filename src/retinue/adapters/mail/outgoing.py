"""Mails on their way: asked for in a transaction, sent after it, sealed in between: they carry links."""

import msgspec

from retinue.adapters.mail.message import Mail, Mailer, recipient
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.jobs.declare import Retry, job
from retinue.kit.manifest import Manifest


@table("outgoing_mails", prefix="mail")
class OutgoingMail(TenantRecord, kw_only=True):
    """A mail that is not sent yet; sending it deletes the row."""

    content: Sealed


class MailToSend(msgspec.Struct):
    mail_id: str


async def post(ctx: Context, mail: Mail) -> None:
    """Send this mail once the transaction is committed."""
    recipient(mail.to)
    stored = await ctx.db.insert(OutgoingMail(content=Sealed.of(msgspec.json.encode(mail))))
    ctx.defer(send_mail, MailToSend(mail_id=stored.id))


@job(queue="mail", retry=Retry((0, 30, 300, 1800, 7200)), transactional=False)
async def send_mail(ctx: Context, payload: MailToSend) -> None:
    stored = await ctx.db.get(OutgoingMail, payload.mail_id)
    if stored is None:
        return
    mail = msgspec.json.decode(stored.content.open(ctx.instance.ring), type=Mail)
    await ctx.adapter(Mailer).send(mail)
    async with ctx.unit() as unit:
        await unit.db.delete(stored)


manifest = Manifest(name="mail", records=(OutgoingMail,), jobs=(send_mail,))
