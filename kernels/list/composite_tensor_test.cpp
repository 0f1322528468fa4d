// Composite tensors in variants. Metadata are CompositeTensorVariantMetadata messages.
#include "core/tensor/variant.hpp"
#include "kernels/list/testing/op_runner.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace composite_tensor_ops {
TROUPE_OPS_IN_GRAPHS("CompositeTensorVariantFromComponents CompositeTensorVariantToComponents");
} // namespace composite_tensor_ops

namespace troupe::list::testing {
namespace {

const std::string ragged("\x0a\x02\x08\x03", 4), sparse("\x0a\x02\x08\x01", 4);

Attrs with(const std::string& metadata, std::vector<DType> dtypes) {
  return {{"metadata", metadata}, {"Tcomponents", std::move(dtypes)}};
}

TEST_CASE("composite tensors: what went in comes out") {
  OpRunner ops;
  const Attrs attrs = with(ragged, {DType::int32, DType::int64});
  const Tensor encoded = ops.run("CompositeTensorVariantFromComponents",
                                 {lit("i32[3] 1 2 3"), lit("i64[3] 0 1 3")}, attrs);
  CHECK(encoded.shape().is_scalar());
  const auto parts = parts_of(encoded.data<Variant>()[0]);
  REQUIRE(parts.ok());
  CHECK(parts->metadata == ragged);
  // As they are after a way over a wire.
  const Tensor arrived = Tensor::scalar(make_variant("CompositeTensorVariant", *parts));
  for (const Tensor& from : {encoded, arrived}) {
    const auto decoded = ops.run_all("CompositeTensorVariantToComponents", {from}, attrs);
    REQUIRE(decoded.size() == 2);
    CHECK(to_literal(decoded[0]) == "i32[3] 1 2 3");
    CHECK(to_literal(decoded[1]) == "i64[3] 0 1 3");
  }
  const Tensor nothing = ops.run("CompositeTensorVariantFromComponents", {}, with("", {}));
  CHECK(ops.run_all("CompositeTensorVariantToComponents", {nothing}, with("", {})).empty());
}

TEST_CASE("composite tensors: what does not fit") {
  OpRunner ops;
  const Tensor encoded =
      ops.run("CompositeTensorVariantFromComponents", {lit("i32[2] 1 2"), lit("i64[2] 0 2")},
              with(ragged, {DType::int32, DType::int64}));
  const auto error = [&](const Tensor& from, const std::string& metadata,
                         std::vector<DType> dtypes) {
    return ops.error("CompositeTensorVariantToComponents", {from},
                     with(metadata, std::move(dtypes)));
  };
  const std::vector<DType> dtypes = {DType::int32, DType::int64};
  CHECK(error(encoded, sparse, dtypes) ==
        "Expected a SPARSE_TENSOR_SPEC (based on `type_spec`), but `encoded` contains a "
        "RAGGED_TENSOR_SPEC");
  CHECK(error(encoded, ragged, {DType::int32}) ==
        "Encoded value has 2 tensor components; expected 1 components based on type_spec");
  CHECK(error(encoded, ragged, {DType::float32, DType::int64}) ==
        "Tensor component 0 had dtype DT_INT32; expected dtype DT_FLOAT");
  CHECK(error(encoded, "\x0a\x7f", dtypes) == "Error parsing `metadata`");
  CHECK(error(Tensor::scalar(Variant()), ragged, dtypes) ==
        "The input `encoded` is not a CompositeTensorVariant, but holds nothing");
  CHECK(error(Tensor::zeros(DType::variant, {2}), ragged, dtypes) ==
        "`encoded` must be a scalar, but has shape [2]");
  CHECK(error(Tensor::scalar(make_variant("CompositeTensorVariant", {"\xff", {}})), ragged,
              dtypes) == "The metadata of the input `encoded` are none");
}

} // namespace
} // namespace troupe::list::testing
