"""For each op a maker of random cases: most of them right, some at the edges, a few wrong on purpose."""

# Each registers its makers.
import cases_elementwise  # noqa: F401
import cases_arrays  # noqa: F401
import cases_networks  # noqa: F401
from makers import MAKERS, some_fed


def make(r, name):
    case = MAKERS[name](r, name)
    return some_fed(r, case)
