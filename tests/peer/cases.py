"""For each op a maker of random cases: most of them right, some at the edges, a few wrong on purpose."""

import glob
import importlib
import os

from makers import MAKERS, some_fed

# Each registers its makers.
for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases_*.py"))):
    importlib.import_module(os.path.basename(path)[:-3])


def make(r, name):
    case = MAKERS[name](r, name)
    return case if case.nodes is not None else some_fed(r, case)
