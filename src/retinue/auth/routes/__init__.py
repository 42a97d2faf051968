from retinue.auth.routes.sign_in import routes as sign_in

ROUTES = (sign_in,)
