"""TensorFlow programs on troupe: see README.md beside this package."""

import importlib.util
import sys

from . import server, session
from .child import ServerError
from .server import Server

__all__ = ["Server", "ServerError", "install", "install_when_imported"]


def install():
    """Replaces TensorFlow's servers by child processes `troupe serve`, and sends sessions without a target to one of them."""
    server.install()
    session.install()


class AfterImport:
    """Finds one module as others do, once, and calls back when it has been executed."""

    def __init__(self, name, then):
        self._name, self._then = name, then

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self._then()

            spec.loader.exec_module = exec_module
        return spec


def install_when_imported():
    """Installs as soon as the program has imported TensorFlow, which reads the environment then: programs set it before."""
    if "tensorflow" in sys.modules:
        install()
    else:
        sys.meta_path.insert(0, AfterImport("tensorflow", install))
