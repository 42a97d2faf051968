"""Programs that run outside the server: they import each other and the standard library, nothing of retinue.

Inside bubblewrap this folder is all there is of the application, so its modules import each other relatively.
"""
