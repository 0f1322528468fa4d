"""TensorFlow programs on troupe: see README.md beside this package."""

from .server import Server, ServerError, install

__all__ = ["Server", "ServerError", "install"]
