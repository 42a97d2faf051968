"""Programs that run outside the server; they import only each other and the standard library.

Inside bubblewrap this folder is all there is of the application, so its modules import each other relatively.
"""
