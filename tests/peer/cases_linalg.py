"""Random cases of linear algebra and of Fourier transforms."""

import numpy as np

from case import Case
from makers import INDEX, ints, op
from values import FLOATS, NUMBERS

@op("MatMul")
def mat_mul(r, name):
    dtype = r.dtype(name)
    m, k, n = r.dim(), r.dim(), r.dim()
    ta, tb = r.chance(0.5), r.chance(0.5)
    a, b = [m, k], [k if r.chance(0.97) else k + 1, n]
    kinds = [r.choice(["small", "small", "any"]), "small"] if not dtype.startswith("complex") else ["small", "small"]
    return Case(name, [r.values(dtype, a[::-1] if ta else a, kinds[0]), r.values(dtype, b[::-1] if tb else b, kinds[1])],
                {"transpose_a": ta, "transpose_b": tb}, ulps=64, scale="sums")


@op("BatchMatMul BatchMatMulV2 BatchMatMulV3")
def batch_mat_mul(r, name):
    dtype = r.dtype(name, "Ta" if name.endswith("V3") else "T", only=["half", "bfloat16", "float", "double", "int16", "int32", "int64", "complex64", "complex128"])
    m, k, n = r.dim(), r.dim(), r.dim()
    batch = [min(d, 5) for d in r.shape(0, 3)]
    other = batch if name == "BatchMatMul" else [min(d, 5) for d in r.broadcastable(batch)]
    ta, tb = r.chance(0.5), r.chance(0.5)
    a, b = [m, k], [k if r.chance(0.97) else k + 1, n]
    attrs = {"adj_x": ta, "adj_y": tb}
    if name == "BatchMatMulV3":
        attrs["Tout"] = dtype
    return Case(name, [r.values(dtype, batch + (a[::-1] if ta else a), "small"), r.values(dtype, other + (b[::-1] if tb else b), "small")], attrs,
                ulps=64, scale="sums")


@op("SparseMatMul")
def sparse_mat_mul(r, name):
    a, b = r.choice(["float", "bfloat16"]), r.choice(["float", "bfloat16"])
    m, k, n = r.dim(), r.dim(), r.dim()
    ta, tb = r.chance(0.5), r.chance(0.5)
    x, y = [m, k], [k if r.chance(0.97) else k + 1, n]
    return Case(name, [r.values(a, x[::-1] if ta else x, "small"), r.values(b, y[::-1] if tb else y, "small")],
                {"transpose_a": ta, "transpose_b": tb, "a_is_sparse": r.chance(0.5), "b_is_sparse": r.chance(0.5)}, ulps=64, scale="sums")


EQUATIONS = ["ij,jk->ik", "ij,jk->ki", "bij,bjk->bik", "...ij,...jk->...ik", "ij->ji", "ii->i", "ii->", "i->ii", "ij->", "ij->i", "i,j->ij", "ij,ij->",
             "abc,cd->abd", "abc,abd->cd", "...,...->...", "ij,kj->ik", "a,b->", "abcd->dcba", "ijj->i", "i,i->i", "ab...,b->a...", "...ab->b...a"]


@op("Einsum")
def einsum(r, name):
    dtype, equation = r.dtype(name, only=NUMBERS + ["half", "bfloat16", "complex64", "complex128"]), r.choice(EQUATIONS)
    sizes = {label: r.choice([0, 1, 2, 2, 3, 4]) for label in "abcdijk"}
    ellipsis = r.shape(0, 2)
    inputs = []
    for part in equation.split("->")[0].split(","):
        shape = []
        where = part.find("...")
        for i, label in enumerate(part.replace("...", "")):
            if i == where:
                shape += ellipsis
            shape.append(sizes[label])
        if where == len(part.replace("...", "")):
            shape += ellipsis
        if r.chance(0.03) and shape:
            shape[0] += 1
        inputs.append(r.values(dtype, shape, "small"))
    return Case(name, inputs, {"equation": equation if r.chance(0.98) else r.choice(["ij,jk", "i->j", "", "ij,jk->ik,kl", "i.j->i", "ij->iij"])},
                ulps=64, scale="sums")


def matrix(r, dtype, rows, columns, kind="small"):
    return r.tensor(dtype, [rows, columns], kind)


def batch_of(r, dtype, make):
    """A stack of matrices, each by `make`."""
    outer = [min(d, 3) for d in r.shape(0, 2)]
    count = int(np.prod(outer))
    one = make()
    stack = np.stack([make() for _ in range(count)]) if count else np.zeros((0,) + one.shape, one.dtype)
    return stack.reshape(outer + list(one.shape)), outer


def regular(r, dtype, n):
    """A square matrix far from singular."""
    x = r.tensor(dtype, [n, n], "small")
    return (x + 4 * max(float(np.abs(x).max()) if x.size else 1, 1) * np.eye(n)).astype(x.dtype)


@op("Cholesky MatrixInverse MatrixDeterminant LogMatrixDeterminant MatrixExponential MatrixLogarithm MatrixSquareRoot Lu")
def square_op(r, name):
    dtype, n = r.dtype(name, only=["half", "float", "double", "complex64", "complex128"]), r.integer(0, 5)

    def make():
        x = regular(r, dtype, n)
        if name == "Cholesky":
            x = (x @ x.conj().T).astype(x.dtype)
        if name == "MatrixExponential":
            x = (x * 0.1).astype(x.dtype)
        return x
    x, outer = batch_of(r, dtype, make)
    if r.chance(0.04):
        x = r.tensor(dtype, outer + [n, n + 1], "small")
    if r.chance(0.05) and n and x.size and name not in ("MatrixSquareRoot", "MatrixLogarithm"):
        x[..., 0, :] = 0
    attrs = {"adjoint": r.chance(0.5)} if name == "MatrixInverse" else {}
    if name == "Lu" and r.chance(0.3):
        attrs["output_idx_type"] = r.choice(INDEX)
    return Case(name, [(dtype, x)], attrs, ulps=256 if dtype not in ("half",) else 16, scale="max")


@op("CholeskyGrad")
def cholesky_grad(r, name):
    dtype, n = r.dtype(name), r.integer(1, 5)
    lower, outer = batch_of(r, dtype, lambda: np.tril(regular(r, dtype, n)).astype(np.float32 if dtype == "float" else np.float64))
    return Case(name, [(dtype, lower), r.values(dtype, outer + [n, n] if r.chance(0.95) else r.shape(), "small")], ulps=256, scale="max")


@op("MatrixSolve MatrixTriangularSolve BandedTriangularSolve MatrixSolveLs")
def solve(r, name):
    dtype = r.dtype(name, only=["half", "bfloat16", "float", "double", "complex64", "complex128"])
    n, columns = r.integer(1, 5), r.integer(0, 4)
    rows = n + r.integer(0, 2) if name == "MatrixSolveLs" else n

    x, outer = batch_of(r, dtype, lambda: regular(r, dtype, max(rows, n))[:rows, :n])
    attrs = {}
    if name == "MatrixSolve":
        attrs["adjoint"] = r.chance(0.5)
    elif name == "MatrixSolveLs":
        attrs["fast"] = r.chance(0.6)
    else:
        attrs.update(lower=r.chance(0.5), adjoint=r.chance(0.5))
    if name == "BandedTriangularSolve":
        k = r.integer(1, n)
        x = r.tensor(dtype, outer + [k, n], "small")
        edge = 0 if attrs["lower"] else k - 1
        x[..., edge, :] = 8
    if r.chance(0.03) and x.size and name != "MatrixSolveLs":
        x[..., 0, :] = 0
    b = outer + [rows, columns]
    if "Triangular" in name and r.chance(0.2) and outer:
        b = [1] * len(outer) + [rows, columns] if r.chance(0.5) else [rows, columns]
    if r.chance(0.04):
        b = outer + [rows + 1, columns]
    inputs = [(dtype, x), r.values(dtype, b, "small")]
    if name == "MatrixSolveLs":
        inputs.append(("double", np.array(r.choice([0.0, 0.1, 1.0]))))
    return Case(name, inputs, attrs, ulps=16 if dtype in ("half", "bfloat16") else 512, scale="max")


@op("TridiagonalMatMul")
def tridiagonal_mat_mul(r, name):
    dtype, n, outer = r.dtype(name, only=["float", "double", "complex64", "complex128"]), r.integer(1, 5), r.shape(0, 2)
    diagonals = [r.values(dtype, outer + [1, n if r.chance(0.98) else n + 1], "small") for _ in range(3)]
    return Case(name, diagonals + [r.values(dtype, outer + [n, r.integer(1, 3)], "small")], ulps=32, scale="max")


@op("TridiagonalSolve")
def tridiagonal_solve(r, name):
    dtype, n, outer = r.dtype(name, only=["float", "double", "complex64", "complex128"]), r.integer(1, 5), r.shape(0, 2)
    x = r.tensor(dtype, outer + [3, n], "small")
    x[..., 1, :] += 9
    return Case(name, [(dtype, x), r.values(dtype, outer + [n if r.chance(0.97) else n + 1, r.integer(1, 3)], "small")],
                {"partial_pivoting": r.chance(0.6)}, ulps=256, scale="max")


@op("SelfAdjointEigV2 Svd Qr Eig")
def decomposition(r, name):
    dtype = r.dtype(name, only=["float", "double", "complex64", "complex128"])
    rows, columns = r.integer(0, 5), r.integer(0, 5)
    if name in ("SelfAdjointEigV2", "Eig"):
        columns = rows

    def make():
        x = matrix(r, dtype, rows, columns)
        return (x + x.conj().T).astype(x.dtype) if name == "SelfAdjointEigV2" else x
    x, _ = batch_of(r, dtype, make)
    if name == "Svd":
        return Case(name, [(dtype, x)], {"compute_uv": r.chance(0.5), "full_matrices": r.chance(0.5)}, ulps=512, scale="max", outputs=1)
    if name == "Qr":
        return Case(name, [(dtype, x)], {"full_matrices": r.chance(0.5)}, ulps=512, scale="max", outputs=2)
    if name == "Eig":  # in whatever order, so for one row
        x = x[..., :1, :1]
        return Case(name, [(dtype, x)], {"compute_v": r.chance(0.5), "Tout": {"float": "complex64", "double": "complex128"}.get(dtype, dtype)},
                    ulps=512, scale="max", outputs=1)
    return Case(name, [(dtype, x)], {"compute_v": r.chance(0.5)}, ulps=512, scale="max", outputs=1)


@op("FFT IFFT FFT2D IFFT2D FFT3D IFFT3D")
def fft(r, name):
    dtype, rank = r.choice(["complex64", "complex128"]), {"2D": 2, "3D": 3}.get(name[-2:], 1)
    shape = r.shape(0, 1) + [r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16]) for _ in range(rank)]
    return Case(name, [r.values(dtype, shape if r.chance(0.95) else r.shape(), "small")], ulps=64, scale="max")


@op("RFFT RFFT2D RFFT3D")
def rfft(r, name):
    dtype, rank = r.choice(FLOATS), {"2D": 2, "3D": 3}.get(name[-2:], 1)
    shape = r.shape(0, 1) + [r.choice([1, 2, 3, 4, 5, 6, 7, 8, 9]) for _ in range(rank)]
    length = [r.integer(0, d + 2) if r.chance(0.4) else d for d in shape[len(shape) - rank:]]
    return Case(name, [r.values(dtype, shape if r.chance(0.95) else r.shape(), "small"), ints(length if r.chance(0.97) else [-1] * rank)],
                {"Tcomplex": {"float": "complex64", "double": "complex128"}[dtype]}, ulps=64, scale="max")


@op("IRFFT IRFFT2D IRFFT3D")
def irfft(r, name):
    dtype, rank = r.choice(["complex64", "complex128"]), {"2D": 2, "3D": 3}.get(name[-2:], 1)
    shape = r.shape(0, 1) + [r.choice([1, 2, 3, 4, 5, 6]) for _ in range(rank)]
    length = [r.integer(0, 2 * d) if r.chance(0.4) else d for d in shape[len(shape) - rank:]]
    length[-1] = r.choice([2 * shape[-1] - 2, 2 * shape[-1] - 1]) if r.chance(0.8) else length[-1]
    return Case(name, [r.values(dtype, shape if r.chance(0.95) else r.shape(), "small"), ints(length)],
                {"Treal": {"complex64": "float", "complex128": "double"}[dtype]}, ulps=64, scale="max")
