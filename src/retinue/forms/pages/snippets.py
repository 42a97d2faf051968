"""HTML snippets that embed a form in another site."""

from html import escape

from retinue.forms.open_form import OpenForm
from retinue.forms.schemas import Embedding
from retinue.forms.urls import page_url, script_url
from retinue.kit.context import Context


def render_snippets(ctx: Context, form: OpenForm) -> Embedding:
    """Return the snippets. They leave out the form's name, so that it cannot inject markup."""
    script, page = escape(script_url(ctx)), escape(page_url(ctx, form.slug))
    return Embedding(
        script_embed=f'<script src="{script}" data-form="{escape(form.slug)}" async></script>',
        iframe_embed=(
            f'<iframe src="{page}?embed=1" title="Form" width="100%" height="640" '
            'style="border:0" loading="lazy"></iframe>'
        ),
    )
