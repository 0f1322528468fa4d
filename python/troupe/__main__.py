"""python -m troupe SCRIPT ARGS…, or -m MODULE ARGS…: the program on `troupe serve`."""

import os
import runpy
import sys
import types

from . import ServerError, install_when_imported

USAGE = "usage: python -m troupe SCRIPT ARGS… | python -m troupe -m MODULE ARGS…"


def run_script(path):
    """As `python SCRIPT` would: the script is the module __main__ until the process ends, for its threads and its pickles too."""
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(code, module.__dict__)


def main(words):
    is_module = words[:1] == ["-m"]
    rest = words[1:] if is_module else words
    if not rest or rest[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    if not is_module and not os.path.isfile(rest[0]):
        print(f"troupe: there is no script {rest[0]!r}", file=sys.stderr)
        return 2
    sys.argv = rest
    install_when_imported()
    try:
        if is_module:
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            run_script(rest[0])
    except ServerError as error:
        print(f"troupe: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
