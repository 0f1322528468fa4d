// Unique: the different elements of a vector in the order of their first coming, and for each
// element which of them it is. UniqueWithCounts: how often each comes, too.
#include <string_view>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(i == 1 ? c.output_like(1, 0) : c.set_output(i, PartialShape{-1}));
  return {};
}

/// What an element is looked up by: text by its characters, small floats by their value.
template <class T>
using Key = std::conditional_t<
    std::is_same_v<T, std::string>, std::string_view,
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>>;

template <class T, class I>
Status find_unique(KernelContext& c) {
  const auto x = c.input(0).data<T>();
  TROUPE_ASSIGN(Tensor index, c.allocate_output(1, c.input(0).shape()));
  auto at = index.mutable_data<I>();
  std::unordered_map<Key<T>, I> seen;
  seen.reserve(x.size());
  std::vector<std::size_t> first, count;
  c.serial_for(c.input(0).num_elements(), 20, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto [found, is_new] = seen.try_emplace(Key<T>(x[i]), static_cast<I>(first.size()));
      if (is_new) {
        first.push_back(i);
        count.push_back(0);
      }
      at[i] = found->second;
      ++count[static_cast<std::size_t>(found->second)];
    }
  });
  const Shape shape{static_cast<std::int64_t>(first.size())};
  TROUPE_ASSIGN(Tensor y, c.allocate_output(0, shape));
  auto out = y.mutable_data<T>();
  for (std::size_t k = 0; k < first.size(); ++k)
    out[k] = x[first[k]];
  if (c.num_outputs() < 3)
    return {};
  TROUPE_ASSIGN(Tensor counts, c.allocate_output(2, shape));
  auto number = counts.mutable_data<I>();
  for (std::size_t k = 0; k < first.size(); ++k)
    number[k] = static_cast<I>(count[k]);
  return {};
}

using Keys =
    Types<float, double, bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
          std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16, std::string>;

Status compute(KernelContext& c) {
  if (c.input(0).shape().rank() != 1)
    return invalid_argument(str_cat("unique expects a 1D vector, not shape ", c.input(0).shape()));
  return dispatch(Keys{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(1),
                    [&]<class I>() -> Status { return find_unique<T, I>(c); });
  });
}

KernelOptions options() {
  KernelOptions out;
  out.types = {{"T",
                {DType::float32, DType::float64, DType::bool_, DType::int8, DType::int16,
                 DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
                 DType::uint64, DType::float16, DType::bfloat16, DType::string}}};
  out.expensive = true;
  return out;
}

} // namespace

void register_array_unique(OpLibrary& library) {
  library.op("Unique")
      .input("x: T")
      .output("y: T; idx: out_idx")
      .attr("T: type; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute, options())
      .doc("The different elements of x, and for each element of x its position among them.");
  library.op("UniqueWithCounts")
      .input("x: T")
      .output("y: T; idx: out_idx; count: out_idx")
      .attr("T: type; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute, options())
      .doc("As Unique, and how often each element comes.");
}

} // namespace troupe
