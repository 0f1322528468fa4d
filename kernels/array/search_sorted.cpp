// LowerBound and UpperBound: where values belong in rows that are sorted. Bucketize: which interval
// between boundaries a number is in.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_search_sorted {
namespace {

using Ordered = Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16>;

/// Small floats are compared by their value.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class T, class I, bool upper>
Status search(KernelContext& c) {
  const Tensor &rows = c.input(0), &values = c.input(1);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, values.shape()));
  const auto from = rows.data<T>(), wanted = values.data<T>();
  const auto to = out.mutable_data<I>();
  const auto length = static_cast<std::size_t>(rows.shape()[1]),
             each = static_cast<std::size_t>(values.shape()[1]);
  const auto less = [](const T& a, const T& b) { return Key<T>(a) < Key<T>(b); };
  c.serial_for(values.num_elements(), 40, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto row = from.subspan(i / each * length, length);
      const auto at = upper ? std::upper_bound(row.begin(), row.end(), wanted[i], less)
                            : std::lower_bound(row.begin(), row.end(), wanted[i], less);
      to[i] = static_cast<I>(at - row.begin());
    }
  });
  return {};
}

template <bool upper>
Status compute_search(KernelContext& c) {
  constexpr const char* names[] = {"sorted_inputs", "values"};
  for (int i = 0; i < 2; ++i)
    if (const int rank = c.input(i).shape().rank(); rank != 2)
      return invalid_argument(
          str_cat("Shape must be rank 2 but is rank ", rank, " for `", names[i], "` argument"));
  if (c.input(0).shape()[0] != c.input(1).shape()[0])
    return invalid_argument("Leading dim_size of both tensors must match.");
  if (c.output_type(0) == DType::int32 && c.input(0).shape()[1] > INT32_MAX)
    return invalid_argument(str_cat("places in rows of ", c.input(0).shape()[1],
                                    " elements are no int32: ask for int64"));
  return dispatch(Ordered{}, c.input(0).dtype(), [&]<class T>() -> Status {
    return dispatch(Indices{}, c.output_type(0),
                    [&]<class I>() -> Status { return search<T, I, upper>(c); });
  });
}

Status infer_search(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(c.require_rank(1, 2));
  return c.output_like(0, 1);
}

Result<std::vector<float>> boundaries(const AttrMap& attrs) {
  TROUPE_ASSIGN(auto out, attrs.get<std::vector<float>>("boundaries"));
  if (!std::ranges::is_sorted(out))
    return invalid_argument("Expected sorted boundaries");
  return out;
}

Status compute_bucketize(KernelContext& c) {
  TROUPE_ASSIGN(const std::vector<float> limits, boundaries(c.attrs()));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto to = out.mutable_data<std::int32_t>();
  return dispatch(Types<float, double, std::int32_t, std::int64_t>{}, c.input(0).dtype(),
                  [&]<class T>() -> Status {
                    const auto from = c.input(0).data<T>();
                    std::ranges::transform(from, to.begin(), [&](T value) {
                      return static_cast<std::int32_t>(std::ranges::upper_bound(limits, value) -
                                                       limits.begin());
                    });
                    return {};
                  });
}

KernelOptions options(std::vector<DType> types) {
  KernelOptions out;
  out.types = {{"T", std::move(types)}};
  out.expensive = true;
  return out;
}

} // namespace

void register_ops(OpLibrary& library) {
  auto search = [&](const char* name, Status (*compute)(KernelContext&), const char* doc) {
    library.op(name)
        .input("sorted_inputs: T; values: T")
        .output("output: out_type")
        .attr("T: type; out_type: {int32, int64} = int32")
        .shape_fn(infer_search)
        .not_differentiable("places are no numbers to differentiate")
        .cpu_kernel(compute,
                    options({DType::float32, DType::float64, DType::int8, DType::int16,
                             DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
                             DType::uint64, DType::float16, DType::bfloat16}))
        .doc(doc);
  };
  search("LowerBound", compute_search<false>,
         "For each value the number of elements of its sorted row that are less.");
  search("UpperBound", compute_search<true>,
         "For each value the number of elements of its sorted row that are not greater.");
  library.op("Bucketize")
      .input("input: T")
      .output("output: int32")
      .attr("T: {int32, int64, float, double}; boundaries: list(float)")
      .shape_fn([](ShapeContext& c) { return c.output_like(0, 0); })
      .not_differentiable("places are no numbers to differentiate")
      .cpu_kernel(compute_bucketize,
                  options({DType::int32, DType::int64, DType::float32, DType::float64}))
      .doc("The number of boundaries, which are sorted, that are not greater than each element.");
}

} // namespace troupe::array_search_sorted
