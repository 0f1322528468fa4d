"""TensorFlow programs on troupe: see README.md beside this package."""

from . import server, session
from .child import ServerError
from .server import Server

__all__ = ["Server", "ServerError", "install"]


def install():
    """Servers are children `troupe serve`; sessions without a target run on one that is the program's own."""
    server.install()
    session.install()
