"""Random cases of ops by the names that they had before TensorFlow 1.0, and of ops that newer ones took the place of."""

from case import Case, Program
from makers import MAKERS, op
from values import FLOATS


@op("BatchCholesky BatchCholeskyGrad BatchMatrixInverse BatchMatrixDeterminant BatchMatrixSolve BatchMatrixSolveLs BatchMatrixTriangularSolve "
    "BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag BatchMatrixBandPart BatchSelfAdjointEigV2 BatchSvd")
def batch(r, name):
    """The newer op's case, of dtypes that the old one takes."""
    newer = name[len("Batch"):]
    for _ in range(99):
        case = MAKERS[newer](r, newer)
        dtypes = [entry[0] for entry in case.inputs]
        any_dtype = newer.endswith(("Diag", "DiagPart"))
        if any_dtype or newer == "MatrixBandPart" and "int32" not in dtypes[1:] or set(dtypes) <= set(FLOATS):
            break
    return case.copy(op=name)


@op("SelfAdjointEig BatchSelfAdjointEig")
def eig(r, name):
    """Eigenvectors have no sign."""
    case = MAKERS["SelfAdjointEigV2"](r, "SelfAdjointEigV2")
    dtype, x = case.inputs[0]
    if dtype not in FLOATS or x.shape[-1] > 2:  # larger ones may have equal eigenvalues
        dtype, x = "float", x.real[..., :2, :2].astype("float32")
    out = Program(name, ulps=1024, scale="max")
    node = out.node(name, [out.value(dtype, x)], {"T": dtype})
    out.fetch(out.node("Abs", [node], {"T": dtype}))
    return out


@op("CheckNumericsV2")
def check_numerics(r, name):
    return Case(name, [r.values(r.dtype(name), r.shape())], {"message": "wrong"})
