from retinue.forms.routes.forms import routes as forms
from retinue.forms.routes.public import routes as public
from retinue.forms.routes.submissions import routes as submissions

ROUTES = (forms, submissions, public)
