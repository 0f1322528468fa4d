#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

void logarithm_becomes(std::string_view before, std::string_view after) {
  check_fused("fuse_log_softmax", before, after);
}

} // namespace

TEST_CASE("fuse_log_softmax: a logarithm of what it alone reads") {
  logarithm_becomes(R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/cpu:0"
    p = Softmax(x) @"/cpu:0"
    l = Log(p) @"/cpu:0"
    wait = NoOp() ^l
    fetch = Neg(l) ^wait)",
                    R"(
    x = Placeholder[dtype=DT_FLOAT]() @"/cpu:0"
    l = LogSoftmax(x) @"/cpu:0"
    wait = NoOp() ^l
    fetch = Neg(l) ^wait)");
}

TEST_CASE("fuse_log_softmax: probabilities that others read, or that are elsewhere, stay") {
  for (std::string_view text : {
           R"(x = Placeholder[dtype=DT_FLOAT]()
              p = Softmax(x)
              l = Log(p)
              fetch = Sub(l, p))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              kept = Softmax(x)
              l = Log(kept)
              fetch = Neg(l))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              p = Softmax(x)
              fetch = Log(p))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              p = Softmax(x)
              l = Log(p)
              fetch = Neg(l) ^p)",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              wait = NoOp()
              p = Softmax(x) ^wait
              l = Log(p)
              fetch = Neg(l))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              wait = NoOp()
              p = Softmax(x)
              l = Log(p) ^wait
              fetch = Neg(l))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              p = Softmax(x) @"/job:a/task:0/cpu:0"
              l = Log(p) @"/job:a/task:1/cpu:0"
              fetch = Neg(l))",
           R"(x = Placeholder[dtype=DT_FLOAT]()
              p = Relu(x)
              l = Log(p)
              fetch = Softmax(l))",
       })
    logarithm_becomes(text, text);
}
