#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

using namespace troupe;

namespace {

void products_become(std::string_view before, std::string_view after) {
  check_fused("fuse_matmul", before, after);
}

} // namespace

TEST_CASE("fuse_matmul: an elementwise op goes into the product that it alone reads") {
  products_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    b = Placeholder[dtype=DT_FLOAT]()
    m = MatMul[transpose_b=true](x, w)
    a = BiasAdd(m, b)
    n = MatMul(w, a)
    s = Sub(x, n)
    fetch = AddN(a, s))",
                  R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    b = Placeholder[dtype=DT_FLOAT]()
    a = _FusedMatMul[num_args=1, transpose_b=true, program=["BiasAdd 0 1"]](x, w, b)
    s = _FusedMatMul[num_args=1, program=["Sub 1 0"]](w, a, x)
    fetch = AddN(a, s))");
}

TEST_CASE("fuse_matmul: an op that reads the product twice, a program that reads it last") {
  products_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Placeholder[dtype=DT_FLOAT]()
    m = MatMul(x, x)
    s = Mul(m, m)
    n = MatMul(s, x)
    f = _FusedElementwise[program=["Mul 0 1", "Relu 3", "Sub 4 2"]](y, x, n)
    fetch = Neg(f))",
                  R"(
    x = Placeholder[dtype=DT_FLOAT]()
    y = Placeholder[dtype=DT_FLOAT]()
    s = _FusedMatMul[num_args=0, program=["Mul 0 0"]](x, x)
    f = _FusedMatMul[num_args=2, program=["Mul 1 2", "Relu 3", "Sub 4 0"]](s, x, y, x)
    fetch = Neg(f))");
}

TEST_CASE("fuse_matmul: what others read, wait for or compute at the same time stays") {
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    i = Placeholder[dtype=DT_INT32]()
    a = MatMul(x, x)
    b = Relu(a)
    c = Neg(a)
    d = MatMul(x, b)
    e = Relu(d) ^c
    kept = MatMul(x, c)
    f = Relu(kept)
    g = MatMul(x, e)
    h = MatMul(x, f)
    j = Add(g, h)
    k = MatMul(i, i)
    l = Neg(k)
    m = MatMul(x, j)
    n = Transpose(m, l)
    o = MatMul(n, x) @"/job:ps"
    p = Relu(o)
    q = MatMul(p, x) ^p
    fetch = Relu(q))";
  products_become(text, text);
}

TEST_CASE("fuse_matmul: the node that is fetched keeps its name") {
  products_become(R"(
    x = Placeholder[dtype=DT_DOUBLE]()
    m = MatMul(x, x)
    fetch = Neg(m))",
                  R"(
    x = Placeholder[dtype=DT_DOUBLE]()
    m = MatMul(x, x)
    fetch = Neg(m))");
}
