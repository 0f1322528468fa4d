// ListDiff: the elements of a vector that another one does not have, in their order, and where they
// are.
#include <string_view>
#include <unordered_set>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array_list_diff {
namespace {

Status infer_shape(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.set_output(0, PartialShape{-1}));
  return c.set_output(1, PartialShape{-1});
}

/// What an element is looked up by: text by its characters, small floats by their value.
template <class T>
auto key_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::string_view(value);
  else if constexpr (std::is_class_v<T>)
    return static_cast<float>(value);
  else
    return value;
}

template <class T, class I>
Status find_missing(KernelContext& c) {
  const auto x = c.input(0).data<T>(), y = c.input(1).data<T>();
  std::unordered_set<decltype(key_of(T{}))> known;
  known.reserve(y.size());
  for (const T& value : y)
    known.insert(key_of(value));
  std::vector<std::size_t> missing;
  std::size_t text = 0;
  c.serial_for(c.input(0).num_elements(), 20, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (known.contains(key_of(x[i])))
        continue;
      missing.push_back(i);
      if constexpr (std::is_same_v<T, std::string>)
        text += x[i].size();
    }
  });
  const Shape shape{static_cast<std::int64_t>(missing.size())};
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  TROUPE_ASSIGN(Tensor index, c.allocate_output(1, shape));
  if (text > 0)
    TROUPE_TRY(out.charge(text));
  auto values = out.mutable_data<T>();
  auto positions = index.mutable_data<I>();
  for (std::size_t k = 0; k < missing.size(); ++k) {
    values[k] = x[missing[k]];
    positions[k] = static_cast<I>(missing[k]);
  }
  return {};
}

using Elements =
    Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
          std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::string>;

Status compute(KernelContext& c) {
  for (int i : {0, 1})
    if (c.input(i).shape().rank() != 1)
      return invalid_argument(str_cat(i == 0 ? "x" : "y", " should be a 1D vector."));
  return dispatch(Elements{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(1),
                    [&]<class I>() -> Status { return find_missing<T, I>(c); });
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T",
                    {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int8,
                     DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16,
                     DType::uint32, DType::uint64, DType::string}}};
  options.expensive = true;
  library.op("ListDiff")
      .input("x: T; y: T")
      .output("out: T; idx: out_idx")
      .attr("T: type; out_idx: {int32, int64} = DT_INT32")
      .shape_fn(infer_shape)
      .not_differentiable("troupe has no gradient rule for it, as TensorFlow has none")
      .cpu_kernel(compute, std::move(options))
      .doc("The elements of x that y does not have, in order, and their positions in x.");
}

} // namespace troupe::array_list_diff
