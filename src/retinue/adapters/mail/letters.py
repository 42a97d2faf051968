"""Letters: the same few paragraphs as plain text and as HTML, in which no value becomes markup."""

from html import escape

import msgspec

from retinue.adapters.mail.message import Mail


class Link(msgspec.Struct, frozen=True):
    """A page that takes a token, and in `by_hand` how to hand the token over without the page."""

    url: str
    token: str
    by_hand: str


def letter(to: str, subject: str, *paragraphs: str | Link) -> Mail:
    plain, marked = ["Hello,"], ["Hello,"]
    for paragraph in paragraphs:
        if isinstance(paragraph, Link):
            url, by_hand, token = paragraph.url, paragraph.by_hand, paragraph.token
            plain += [url, by_hand, token]
            marked += [
                f'<a href="{escape(url)}">{escape(url)}</a>',
                escape(by_hand),
                f"<code>{escape(token)}</code>",
            ]
        else:
            plain.append(paragraph)
            marked.append(escape(paragraph))
    html = "".join(f"<p>{paragraph}</p>\n" for paragraph in marked)
    return Mail(to, subject, "\n\n".join(plain) + "\n", html)
