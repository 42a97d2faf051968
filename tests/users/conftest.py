"""The mail server that invitations are sent through."""

from tests.notifications.conftest import mail_server

__all__ = ["mail_server"]
