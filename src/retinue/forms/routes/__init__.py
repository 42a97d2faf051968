from retinue.forms.routes.conversations import routes as conversations
from retinue.forms.routes.drafts import routes as drafts
from retinue.forms.routes.forms import routes as forms
from retinue.forms.routes.pages import routes as pages
from retinue.forms.routes.public import routes as public
from retinue.forms.routes.submissions import routes as submissions

ROUTES = (forms, drafts, submissions, public, conversations, pages)
