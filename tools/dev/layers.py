#!/usr/bin/env python3
"""Checks what the compiler would not: which folder includes which, where CAF and Eigen may be, how long files are, which types share a name,
which folders have a README.

The table is docs/architecture.md's map. Prints one line for each breach and exits 1 if there is any.
"""
import re
import subprocess
import sys

# Folder → folders whose headers it may include, besides its own. Longest prefix wins.
MAY_INCLUDE = {
    "core": [],
    "storage": ["core"],
    "graph/convert": ["core", "graph", "proto"],
    "graph": ["core"],
    "devices": ["core"],
    "kernels/arith": ["core", "graph/op"],
    "kernels": ["core", "graph/op", "devices", "storage"],
    "net": ["core"],
    "actors": ["core", "graph", "devices", "kernels/framework", "net"],
    "api": ["core", "graph", "storage", "actors", "net", "kernels/framework", "devices"],
    "proto": [],
    "tools": None, "examples": None, "bench": None, "tests": None,  # anything
}
CAF_HOMES = ("net/transport/", "net/wire/", "actors/", "api/session", "api/internal/session_impl.hpp", "api/grpc/", "tools/", "tests/", "bench/")
EIGEN_HOMES = ("kernels/",)
GRPC_HOMES = ("api/grpc/rpc_server.cpp", "api/grpc/rpc_peers.cpp", "api/grpc/node_address.cpp", "api/grpc/grpc_library.cpp", "tests/support/rpc/")
PUBLIC_HEADERS = re.compile(r"^api/[^/]*\.hpp$")
# An op says in its own file what it is (graph/op/roles.hpp); only what rewrites a pattern of certain ops knows their names.
OP_COMPARED = re.compile(r'\bis_op\("|\bop_name\(\) *[!=]= *"|\b(?:schema|op)->name *[!=]= *"|\bop *[!=]= *"_')
OP_COMPARED_IN = ("actors/", "graph/", "api/", "tools/")
PATTERN_HOMES = ("graph/passes/fuse_",)
MAX_LINES = 800
NEED_README = ["core", "proto", "storage", "graph", "devices", "kernels", "net", "actors", "api", "tools", "tests", "examples", "bench"]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
NOT_CODE = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
SCOPE = re.compile(r"namespace\s+([\w:]*)\s*\{|\b(?:struct|class|enum class|union)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)\s*(?:final\s*)?"
                   r"(?::(?!:)[^{;()]*)?\{|\{|\}")


def rule_of(path):
    best = None
    for prefix in MAY_INCLUDE:
        if path.startswith(prefix + "/") and (best is None or len(prefix) > len(best)):
            best = prefix
    return best


def breaches(path, lines):
    rule = rule_of(path)
    is_test = path.endswith("_test.cpp") or path.endswith("_bench.cpp") or "/testing/" in path or path.endswith("test_ops.hpp")
    if len(lines) > MAX_LINES:
        yield f"{path}:{MAX_LINES}: has {len(lines)} lines; split it, {MAX_LINES} is the cap"
    for number, line in enumerate(lines, 1):
        if not is_test and path.startswith(OP_COMPARED_IN) and not path.startswith(PATTERN_HOMES) and OP_COMPARED.search(line):
            yield f"{path}:{number}: knows an op by its name; ask for its role (graph/op/roles.hpp)"
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, target = match.groups()
        where = f"{path}:{number}"
        if target.startswith("caf/"):
            if not path.startswith(CAF_HOMES) or PUBLIC_HEADERS.match(path):
                yield f"{where}: includes {target}; CAF stays in net/, actors/ and what links them"
            if target == "caf/all.hpp" and path.endswith(".hpp"):
                yield f"{where}: a header includes caf/all.hpp; name what it needs"
        elif target.startswith(("Eigen/", "unsupported/Eigen")):
            if not path.startswith(EIGEN_HOMES):
                yield f"{where}: includes {target}; Eigen stays in kernels/"
        elif target.startswith(("grpc/", "grpcpp/")):
            if not path.startswith(GRPC_HOMES):
                yield f"{where}: includes {target}; gRPC stays in {GRPC_HOMES[0]}"
        elif target.endswith(".pb.h"):
            if path.endswith(".hpp") and "/internal/" not in path and not path.startswith("tests/support/"):
                yield f"{where}: a header includes {target}; protobuf stays in the .cpp files that convert"
        elif kind == '"' and not is_test and rule is not None and MAY_INCLUDE[rule] is not None:
            allowed = [rule] + MAY_INCLUDE[rule]
            if "/" in target and not any(target.startswith(folder + "/") for folder in allowed):
                yield f"{where}: {rule}/ includes {target}; it may include {', '.join(allowed)} only"


def types_defined(text):
    """Full names of the types that the text defines for other files to see, with their lines."""
    scopes = []
    text = NOT_CODE.sub("", text)
    for match in SCOPE.finditer(text):
        namespace, name = match.groups()
        if match.group(0) == "}":
            if scopes:
                scopes.pop()
        elif name and all(scopes):  # every scope around it is a namespace with a name
            yield "::".join([*scopes, name]), text.count("\n", 0, match.start()) + 1
            scopes.append(None)
        else:
            scopes.append(namespace)


def main():
    files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
    found = 0
    homes = {}  # of types: two with one name in one program are one to the linker
    for path in files:
        if not path.endswith((".cpp", ".hpp", ".cu", ".cuh")):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for breach in breaches(path, text.splitlines()):
            print(breach)
            found += 1
        for name, line in types_defined(text):
            if homes.setdefault(name, path) != path:
                print(f"{path}:{line}: defines {name}, as {homes[name]} does; give one of them another name")
                found += 1
    for folder in NEED_README:
        readme = f"{folder}/README.md"
        if readme not in files:
            print(f"{readme}: is missing; say what is in the folder, what must never be, and where to start reading")
            found += 1
            continue
        with open(readme, encoding="utf-8") as file:
            length = len(file.read().splitlines())
        if length > 60:
            print(f"{readme}: has {length} lines; 60 are enough")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
