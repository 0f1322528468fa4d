// Ragged tensors in variants; values are those of TensorFlow 2.21.
#include "core/tensor/variant.hpp"
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace ragged_variant_ops {
TROUPE_OPS_IN_GRAPHS("RaggedTensorFromVariant RaggedTensorToVariant RaggedTensorToVariantGradient");
} // namespace ragged_variant_ops

namespace troupe {
namespace {

using list::testing::Attrs;
using list::testing::lit;
using list::testing::OpRunner;

struct Raggeds : OpRunner {
  Tensor to(const std::vector<std::string>& parts, bool batched) {
    return run("RaggedTensorToVariant", tensors(parts), attrs(parts, batched));
  }
  std::string to_error(const std::vector<std::string>& parts, bool batched) {
    return error("RaggedTensorToVariant", tensors(parts), attrs(parts, batched));
  }
  static Attrs attrs(const std::vector<std::string>& parts, bool batched) {
    return {{"RAGGED_RANK", static_cast<std::int64_t>(parts.size()) - 1},
            {"batched_input", batched}};
  }
  static std::vector<Tensor> tensors(const std::vector<std::string>& parts) {
    std::vector<Tensor> out;
    for (const std::string& part : parts)
      out.push_back(lit(part));
    return out;
  }
  static Attrs from_attrs(int input_rank, int output_rank, DType dtype) {
    return {{"input_ragged_rank", std::int64_t{input_rank}},
            {"output_ragged_rank", std::int64_t{output_rank}},
            {"Tvalues", dtype}};
  }
  std::vector<std::string> from(Tensor variants, int input_rank, int output_rank,
                                DType dtype = DType::int32) {
    std::vector<std::string> out;
    for (const Tensor& part : run_all("RaggedTensorFromVariant", {std::move(variants)},
                                      from_attrs(input_rank, output_rank, dtype)))
      out.push_back(to_literal(part));
    return out;
  }
};

using Texts = std::vector<std::string>;

TEST_CASE_FIXTURE(Raggeds, "ragged variants: whole tensors come back") {
  const Texts parts{"i64[3] 0 2 3", "i64[4] 0 1 3 3", "i32[3] 7 8 9"};
  CHECK(from(to(parts, false), 2, 2) == parts);
  CHECK(from(to({"i32[2] 1 2"}, false), -1, 0) == Texts{"i32[2] 1 2"});
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: rows come back as rows") {
  const Texts parts{"i64[3] 0 2 3", "i64[4] 0 1 3 3", "str[3] \"a\" \"b\" \"c\""};
  const Tensor rows = to(parts, true);
  CHECK(rows.shape() == Shape{2});
  CHECK(from(rows, 1, 2, DType::string) == parts);
  CHECK(from(rows, -1, 2, DType::string) == parts);
  CHECK(from(to({"i64[3] 0 2 3", "i32[3] 7 8 9"}, true), 0, 1) ==
        Texts{"i64[3] 0 2 3", "i32[3] 7 8 9"});
  CHECK(from(rows.reshaped(Shape{2, 1}), 1, 3, DType::string) ==
        Texts{"i64[3] 0 1 2", "i64[3] 0 2 3", "i64[4] 0 1 3 3", "str[3] \"a\" \"b\" \"c\""});
  CHECK(from(to({"i64[1] 0", "i32[0]"}, true), 0, 1) == Texts{"i64[1] 0", "i32[0]"});
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: rows of a tensor without splits") {
  const Tensor rows = to({"i32[2,2] 1 2 3 4"}, true);
  CHECK(rows.shape() == Shape{2});
  CHECK(from(rows, 0, 1) == Texts{"i64[3] 0 2 4", "i32[4] 1 2 3 4"});
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: splits are checked") {
  CHECK(to_error({"i64[3] 0 2 9", "i32[3] 7 8 9"}, true) ==
        "Invalid ragged splits: last element of ragged splits must be the number of ragged "
        "values(3) but is 9");
  CHECK(to_error({"i64[3] 0 2 1", "i32[3] 7 8 9"}, false) ==
        "Invalid ragged splits: ragged splits must be monotonically increasing, but "
        "ragged_splits[2]=1 is smaller than row_splits[1]=2");
  CHECK(to_error({"i64[2] 1 3", "i32[3] 7 8 9"}, true) ==
        "Invalid ragged splits: first element of ragged splits  must be 0 but is 1");
  CHECK(to_error({"i64[0]", "i32[3] 7 8 9"}, true) ==
        "Invalid ragged splits: ragged splits must have at least one splits, but is empty");
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: ranks and dtypes are checked") {
  const Tensor rows = to({"i64[3] 0 2 3", "i32[3] 7 8 9"}, true);
  const auto fails = [&](int input_rank, int output_rank, DType dtype) {
    return error("RaggedTensorFromVariant", {rows}, from_attrs(input_rank, output_rank, dtype));
  };
  CHECK(fails(1, 2, DType::int32) ==
        "Encoded input RaggedTensorVariant has ragged_rank=0.  Expected ragged_rank=1.");
  CHECK(fails(0, 1, DType::float32) == "Expected values Tensor dtype: float, found: int32");
  CHECK(fails(-1, 0, DType::float32).starts_with("Inferred input_ragged_rank"));
  CHECK(fails(1, 1, DType::int32).starts_with("output_ragged_rank must be equal to"));
  CHECK(error("RaggedTensorFromVariant", {Tensor::make(DType::variant, Shape{1})},
              from_attrs(0, 1, DType::int32))
            .starts_with("Input Variant element at index 0 doesn't hold a RaggedTensorVariant"));
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: gradients are the values, zeros for lost ones") {
  Tensor rows = to({"i64[3] 0 2 3", "f32[3] 7 8 9"}, true).deep_copy();
  const Attrs floats{{"Tvalues", DType::float32}};
  const auto gradient = [&](const char* splits, const char* shape) {
    return text("RaggedTensorToVariantGradient", {rows, lit(splits), lit(shape)}, floats);
  };
  CHECK(gradient("i64[3] 0 2 3", "i32[1] 3") == "f32[3] 7 8 9");
  CHECK(error("RaggedTensorToVariantGradient", {rows, lit("i64[3] 0 2 3"), lit("i32[1] 4")}, floats)
            .starts_with("the variants have 3 values"));
  rows.mutable_data<Variant>()[0] = Variant();
  CHECK(gradient("i64[3] 0 2 3", "i32[1] 3") == "f32[3] 0 0 9");
  CHECK(error("RaggedTensorToVariantGradient", {rows, lit("i64[1] 0"), lit("i32[1] 3")}, floats)
            .starts_with("there are no row_splits for variant 0"));
}

TEST_CASE_FIXTURE(Raggeds, "ragged variants: they add, and their zeros are of their shape") {
  const Tensor a = to({"i64[3] 0 2 3", "i32[3] 7 8 9"}, false);
  CHECK(from(run("AddN", {a, a}, {{"N", std::int64_t{2}}}), 1, 1) ==
        Texts{"i64[3] 0 2 3", "i32[3] 14 16 18"});
  CHECK(from(run("ZerosLike", {a}), 1, 1) == Texts{"i64[3] 0 2 3", "i32[3] 0 0 0"});
  CHECK(error("AddN", {a, to({"i64[3] 0 1 3", "i32[3] 7 8 9"}, false)}, {{"N", std::int64_t{2}}}) ==
        "Can't add RaggedTensorVariants with different row_splits.");
}

} // namespace
} // namespace troupe
