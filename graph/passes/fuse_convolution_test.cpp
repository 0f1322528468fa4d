#include <algorithm>

#include "graph/passes/internal/test_text.hpp"
#include "graph/passes/optimize.hpp"

using namespace troupe;

namespace {

void convolutions_become(std::string_view before, std::string_view after) {
  check_fused("fuse_convolution", before, after);
}

} // namespace

TEST_CASE("fuse_convolution: bias and relu go into the convolution") {
  convolutions_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    b = Placeholder[dtype=DT_FLOAT]()
    c = Conv2D[strides=[1,2,2,1], padding="SAME"](x, w)
    a = BiasAdd(c, b)
    r = Relu(a)
    m = Neg(r)
    fetch = AddN(r, m))",
                      R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    b = Placeholder[dtype=DT_FLOAT]()
    r = _FusedConv2D[num_args=1, strides=[1,2,2,1], padding="SAME", fused_ops=["BiasAdd", "Relu"]](x, w, b)
    m = Neg(r)
    fetch = AddN(r, m))");
}

TEST_CASE("fuse_convolution: given means, an addition on either side, and relu") {
  convolutions_become(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    s = Placeholder[dtype=DT_FLOAT]()
    o = Placeholder[dtype=DT_FLOAT]()
    m = Placeholder[dtype=DT_FLOAT]()
    v = Placeholder[dtype=DT_FLOAT]()
    c = Conv2D[strides=[1,1,1,1], padding="VALID"](x, w)
    n = FusedBatchNormV3[is_training=false, epsilon=0.001](c, s, o, m, v)
    a = Add(x, n)
    r = Relu(a)
    fetch = Neg(r))",
                      R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    s = Placeholder[dtype=DT_FLOAT]()
    o = Placeholder[dtype=DT_FLOAT]()
    m = Placeholder[dtype=DT_FLOAT]()
    v = Placeholder[dtype=DT_FLOAT]()
    r = _FusedConv2D[num_args=5, strides=[1,1,1,1], padding="VALID", fused_ops=["FusedBatchNorm", "Add", "Relu"], epsilon=0.001](x, w, s, o, m, v, x)
    fetch = Neg(r))");
}

TEST_CASE("fuse_convolution: moments of the batch, values read elsewhere, control edges stay") {
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    w = Placeholder[dtype=DT_FLOAT]()
    c = Conv2D[strides=[1,1,1,1], padding="VALID"](x, w)
    n = FusedBatchNormV3(c, w, w, w, w)
    d = Conv2D[strides=[1,1,1,1], padding="VALID"](n, w)
    e = BiasAdd(d, w)
    f = Neg(d)
    g = Conv2D[strides=[1,1,1,1], padding="VALID"](x, w)
    h = BiasAdd(g, w) ^f
    i = Conv2D[strides=[1,1,1,1], padding="VALID"](x, w)
    kept = BiasAdd(i, w)
    j = Conv2D[strides=[1,1,1,1], padding="VALID"](x, w)
    k = FusedBatchNormV3[is_training=false](j, w, w, w, w)
    l = Neg(k:1)
    fetch = AddN(e, h, kept, k, l))";
  convolutions_become(text, text);
}
