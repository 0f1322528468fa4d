// A tensorflow.Example, parsed alone and twice in a batch, into dense, sparse and ragged tensors.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/parsing_ops.hpp"

namespace troupe {
namespace {

using Types = std::vector<DType>;

Tensor keys(std::initializer_list<std::string> names) {
  return Tensor::vector<std::string>(names);
}

/// Dense d, e (padded), f; sparse s, t, u; ragged r, q, p: texts, floats and numbers of each.
Result<std::vector<Tensor>> parse(Bench& bench, Tensor serialized) {
  const Types all = {DType::string, DType::float32, DType::int64};
  AttrMap attrs{{"Tdense", Types{DType::string, DType::float32, DType::int64}},
                {"num_sparse", std::int64_t{3}},
                {"sparse_types", all},
                {"ragged_value_types", all},
                {"ragged_split_types", Types{DType::int32, DType::int64, DType::int32}},
                {"dense_shapes", std::vector<PartialShape>{{2}, {-1, 2}, {1, 3}}}};
  return run_one(bench, parsing_ops(), "ParseExampleV2", std::move(attrs),
                 {std::move(serialized), keys({}), keys({"s", "t", "u"}), keys({"d", "e", "f"}),
                  keys({"r", "q", "p"}), Tensor::vector<std::string>({"x", "y"}),
                  Tensor::scalar(0.5F), Tensor::of<std::int64_t>({1, 3}, {1, 2, 3})});
}

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static Bench bench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse(bench, Tensor::scalar(text));
  const auto one = parse(bench, Tensor::vector<std::string>({text}));
  const auto two = parse(bench, Tensor::vector<std::string>({text, text}));
  if (!one.ok() || !two.ok()) {
    TROUPE_CHECK(one.ok() || !two.ok(), "what is refused alone is refused in a batch");
    return 0;
  }
  for (std::size_t i = 0; i < one->size(); ++i) {
    const std::int64_t a = (*one)[i].num_elements(), b = (*two)[i].num_elements();
    const bool is_shape = i >= 6 && i < 9, is_splits = i >= 15;
    TROUPE_CHECK(b == (is_shape    ? a
                       : is_splits ? a + 1
                                   : 2 * a),
                 "two examples have twice as much");
  }
  return 0;
}
