"""What goes into a page so that a form is filled in there."""

from html import escape

from retinue.forms.addresses import page_address, script_address
from retinue.forms.opening import OpenForm
from retinue.forms.schemas import Embedding
from retinue.kit.context import Context


def snippets(ctx: Context, form: OpenForm) -> Embedding:
    """The form's name is no part of any tag: a page never runs what someone called a form."""
    script, page = escape(script_address(ctx)), escape(page_address(ctx, form.slug))
    return Embedding(
        script_embed=f'<script src="{script}" data-form="{escape(form.slug)}" async></script>',
        iframe_embed=(
            f'<iframe src="{page}?embed=1" title="Form" width="100%" height="640" '
            'style="border:0" loading="lazy"></iframe>'
        ),
    )
