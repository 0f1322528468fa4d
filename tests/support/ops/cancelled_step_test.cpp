// Kernels with results so large that they take seconds or minutes: in a cancelled step they end
// before they have computed them. Nothing of the memory is touched.
#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/internal/case_node.hpp"

namespace troupe::testing {
namespace {

struct Large {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, AttrValue>> attrs = {};
};

const std::vector<Large>& all_large() {
  static const std::vector<Large> all = {
      {"BroadcastTo", {"i8[2,1] 1 2", "i64[2] 2 1073741824"}},
      {"Cast", {"i8[60000000] 1"}, {{"DstT", DType::float32}}},
      {"Cumsum", {"i8[60000000] 1", "i32[] 0"}},
      {"Fill", {"i32[1] 2147483647", "i8[] 1"}},
      {"LinSpace", {"f32[] 0", "f32[] 1", "i32[] 500000000"}},
      {"MatMul", {"i32[3000,3000] 1", "i32[3000,3000] 1"}},
      {"OneHot", {"i32[1000] 1", "i32[] 2147483", "i8[] 1", "i8[] 0"}},
      {"Pad", {"i8[1] 1", "i32[1,2] 0 2147483646"}},
      {"RandomUniform", {"i32[1] 1000000000"}, {{"dtype", DType::float16}}},
      {"Range", {"i32[] 0", "i32[] 500000000", "i32[] 1"}},
      {"StatelessTruncatedNormal",
       {"i32[1] 1000000000", "i64[2] 1 2"},
       {{"dtype", DType::float16}}},
      {"Tile", {"i8[2] 1 2", "i32[1] 1073741823"}},
      {"Where", {"bool[60000000] false"}},
  };
  return all;
}

} // namespace

TEST_CASE("op library: kernels with large results end when their step is cancelled") {
  for (const Large& large : all_large()) {
    CAPTURE(large.op);
    const OpSchema* schema = op_library().ops.find(large.op);
    REQUIRE(schema);
    std::vector<CaseInput> inputs;
    for (const std::string& text : large.inputs) {
      auto input = parse_case_input(text);
      REQUIRE_MESSAGE(input.ok(), input.status().to_string());
      inputs.push_back(*std::move(input));
    }
    auto node = make_case_node(*schema, inputs, large.attrs);
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    TestDevice device;
    auto bound = bind_kernel(op_library().kernels, "node", *schema, node->attrs, device.device());
    REQUIRE_MESSAGE(bound.ok(), bound.status().to_string());
    device.step().cancellation->cancel(cancelled("nobody wants it any more"));
    const std::vector<std::string> names(inputs.size(), "x");
    CHECK_THROWS_AS(
        [&] { return run_kernel(*bound, device.step(), make_entries(inputs, device), names); }(),
        StepCancelled);
  }
}

} // namespace troupe::testing
