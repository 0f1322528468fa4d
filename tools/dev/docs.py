#!/usr/bin/env python3
"""Checks that what the documents name exists: the targets of links, and the paths and symbols in code quotes.

A path is looked for from the root, from the document's folder, and as a part of a tracked file's path. A symbol is CamelCase, snake_case or `name()`: some
tracked file that is no document must hold it as a word. Examples in fences are not read.
docs/differences.md must be what tests/peer/differences.py makes of its list.
Prints one line for each breach and exits 1 if there is any.
"""
import os
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```.*?^```", re.M | re.S)
QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
PATH = re.compile(r"[\w+-][\w.+-]*(?:/[\w.+-]+)*/?")
ENDINGS = (".hpp", ".cpp", ".h", ".md", ".py", ".proto", ".def", ".cmake")
SYMBOL = re.compile(r"(?:\w+::)*(\w+)(?:\(\))?")
WORD = re.compile(r"\w+")
PLACEHOLDER = re.compile(r"\bNAME\b|NAME_|_NAME")
# What the build makes.
MADE = re.compile(r"build(-\w+)?/|proto/\w+\.pb\.h$|ops\.hpp$")
# Executables are named for the folder of their sources.
EXECUTABLE = re.compile(r"(?:test|bench|headers)_(\w+)")
# Of other programs.
FOREIGN = {"sched_setattr", "finish_task_switch"}


def tracked():
    return subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()


def parts_of(paths):
    """Every run of whole components of every path."""
    out = set()
    for path in paths:
        components = path.split("/")
        for begin in range(len(components)):
            for end in range(begin + 1, len(components) + 1):
                out.add("/".join(components[begin:end]))
    return out


def words_of(paths):
    out = set()
    for path in paths:
        out.add(pathlib.PurePath(path).name.split(".")[0])
        try:
            out.update(WORD.findall(pathlib.Path(path).read_text()))
        except UnicodeDecodeError:
            pass  # data
    return out


def names_a_path(word):
    return bool(PATH.fullmatch(word)) and not MADE.match(word) and not PLACEHOLDER.search(word)


def symbol_in(quoted):
    """The name, if it can only be one of code."""
    match = SYMBOL.fullmatch(quoted)
    if not match or PLACEHOLDER.search(quoted):
        return None
    name = match.group(1)
    is_snake = "_" in name.strip("_") and name == name.lower()
    is_camel = re.search(r"[a-z0-9][A-Z]", name)
    return name if is_snake or is_camel or quoted.endswith("()") else None


def breaches(document, paths, words):
    text = FENCE.sub(lambda match: "\n" * match.group().count("\n"), pathlib.Path(document).read_text())
    folder = os.path.dirname(document)
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            if "://" not in target and not os.path.exists(os.path.join(folder, target)):
                yield f"{document}:{number}: links to {target}, which does not exist"
        for quoted in QUOTED.findall(line):
            for word in quoted.split():
                path = word.strip(",;").rstrip("/")
                looks_like_one = path.endswith(ENDINGS) or ("/" in word and path.split("/")[0] in paths)
                if looks_like_one and names_a_path(path) and path not in paths and not os.path.exists(os.path.join(folder, path)):
                    yield f"{document}:{number}: names {word}, which does not exist"
            name = symbol_in(quoted)
            if name and name not in words and name not in FOREIGN:
                executable = EXECUTABLE.fullmatch(name)
                if not (executable and executable.group(1).replace("_", "/") in paths):
                    yield f"{document}:{number}: names {quoted}, which no file holds"


def main():
    files = [path for path in tracked() if os.path.isfile(path)]
    documents = [path for path in files if path.endswith(".md")]
    paths, words = parts_of(files), words_of(path for path in files if not path.endswith(".md"))
    found = [breach for document in documents for breach in breaches(document, paths, words)]
    sys.path.insert(0, "tests/peer")
    import differences
    if not differences.is_up_to_date():
        found.append("docs/differences.md is not that of tests/peer/differences.tsv: run tests/peer/differences.py --write")
    print("\n".join(found) if found else f"docs: {len(documents)} documents name what exists")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
