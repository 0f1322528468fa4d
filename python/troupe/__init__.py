"""TensorFlow programs on troupe: see README.md beside this package."""

from . import server, session
from .child import ServerError
from .server import Server

__all__ = ["Server", "ServerError", "install"]


def install():
    """Replaces TensorFlow's servers by child processes `troupe serve`, and sends sessions without a target to one of them."""
    server.install()
    session.install()
