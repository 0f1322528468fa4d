// A tensorflow.SequenceExample, parsed by the ops for one and, twice, in a batch.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/parsing_ops.hpp"

namespace troupe {
namespace {

using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

Tensor keys(std::initializer_list<std::string> names) {
  return Tensor::vector<std::string>(names);
}

const Types all = {DType::string, DType::float32, DType::int64};

/// Of the context dense d, sparse s, t, u and ragged r; the same of the lists, dense d and e.
Result<std::vector<Tensor>> parse_batch(Bench& bench, Tensor serialized) {
  AttrMap attrs{{"Ncontext_sparse", std::int64_t{3}},
                {"Tcontext_dense", Types{DType::float32}},
                {"context_sparse_types", all},
                {"context_ragged_value_types", Types{DType::string}},
                {"context_ragged_split_types", Types{DType::int32}},
                {"context_dense_shapes", Shapes{{2}}},
                {"Nfeature_list_sparse", std::int64_t{3}},
                {"Nfeature_list_dense", std::int64_t{2}},
                {"feature_list_dense_types", Types{DType::int64, DType::string}},
                {"feature_list_sparse_types", all},
                {"feature_list_ragged_value_types", Types{DType::int64}},
                {"feature_list_ragged_split_types", Types{DType::int64}},
                {"feature_list_dense_shapes", Shapes{{2}, PartialShape(Shape{})}}};
  return run_one(bench, parsing_ops(), "ParseSequenceExampleV2", std::move(attrs),
                 {std::move(serialized), keys({}), keys({"s", "t", "u"}), keys({"d"}), keys({"r"}),
                  keys({"s", "t", "u"}), keys({"d", "e"}), keys({"r"}),
                  Tensor::vector<bool>({true, true}), Tensor::vector<float>({1, 2})});
}

Result<std::vector<Tensor>> parse_single(Bench& bench, Tensor serialized) {
  AttrMap attrs{{"Ncontext_sparse", std::int64_t{1}},
                {"Ncontext_dense", std::int64_t{1}},
                {"Nfeature_list_sparse", std::int64_t{1}},
                {"Nfeature_list_dense", std::int64_t{1}},
                {"context_sparse_types", Types{DType::string}},
                {"Tcontext_dense", Types{DType::int64}},
                {"feature_list_dense_types", Types{DType::float32}},
                {"context_dense_shapes", Shapes{{2}}},
                {"feature_list_sparse_types", Types{DType::int64}},
                {"feature_list_dense_shapes", Shapes{{1}}}};
  const auto name = [](const char* text) { return Tensor::scalar(text); };
  return run_one(bench, parsing_ops(), "ParseSingleSequenceExample", std::move(attrs),
                 {std::move(serialized), keys({"d"}), name("s"), name("d"), name("u"), name("d"),
                  Tensor::vector<std::int64_t>({1, 2}), name("debug")});
}

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static Bench bench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse_single(bench, Tensor::scalar(text));
  const auto alone = parse_batch(bench, Tensor::scalar(text));
  const auto batch = parse_batch(bench, Tensor::vector<std::string>({text, text}));
  if (!alone.ok() || !batch.ok()) {
    TROUPE_CHECK(alone.ok() || !batch.ok(), "what is refused alone is refused in a batch");
    return 0;
  }
  // Values of the sparse ones of context and lists, and of the ragged ones.
  for (const std::size_t i : {3, 4, 5, 10, 15, 16, 17, 25})
    TROUPE_CHECK((*batch)[i].num_elements() == 2 * (*alone)[i].num_elements(),
                 "two messages have twice as many values");
  return 0;
}
