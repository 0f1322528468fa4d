"""python -m troupe SCRIPT ARGS…, or -m MODULE ARGS…: the program with its servers replaced by `troupe serve`."""

import os
import runpy
import sys

from .server import ServerError, install

USAGE = "usage: python -m troupe SCRIPT ARGS… | python -m troupe -m MODULE ARGS…"


def main(words):
    is_module = words[:1] == ["-m"]
    rest = words[1:] if is_module else words
    if not rest or rest[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    install()
    sys.argv = rest
    try:
        if is_module:
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
            runpy.run_path(rest[0], run_name="__main__")
    except ServerError as error:
        print(f"troupe: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
