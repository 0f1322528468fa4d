// DebugIdentityV2 and DebugNumericSummaryV2, which the second tfdbg puts into a graph: a tensor
// itself, and what a few numbers say of it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::io_debug_v2 {
namespace {

/// tensor_debug_mode, tensorflow/core/protobuf/debug_event.proto
enum Mode : std::int64_t { curt_health = 2, concise_health, full_health, shape, three_slots = 8 };

using Summarized =
    Types<float, double, Half, BFloat16, bool, std::int8_t, std::uint8_t, std::int16_t,
          std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
using Numbers = std::vector<double>;

/// Elements by kind.
struct Health {
  double negative_inf = 0, positive_inf = 0, nan = 0, negative = 0, zero = 0, positive = 0;

  template <class T>
  void add(T value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      add(static_cast<float>(value));
    } else {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value))
          return void(++nan);
        if (std::isinf(value))
          return void(++(value < 0 ? negative_inf : positive_inf));
      }
      ++(value > T{} ? positive : value < T{} ? negative : zero);
    }
  }
  bool is_well() const { return nan == 0 && negative_inf == 0 && positive_inf == 0; }
};

Result<Health> health_of(KernelContext& c) {
  Health out;
  TROUPE_TRY(dispatch(Summarized{}, c.input(0).dtype(), [&]<class T>() -> Status {
    const auto values = c.input(0).data<T>();
    c.serial_for(static_cast<std::int64_t>(values.size()), 2.0,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (T value : values.subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(end - begin)))
                     out.add(value);
                 });
    return {};
  }));
  return out;
}

// The last six dimensions, zeros after those that there are.
Numbers summarize_shape(double id, const Tensor& x) {
  Numbers out{id, static_cast<double>(x.dtype()), static_cast<double>(x.shape().rank()),
              static_cast<double>(x.num_elements())};
  constexpr std::size_t most = 6;
  const auto dims = x.shape().dims();
  for (std::size_t i = dims.size() > most ? dims.size() - most : 0; i < dims.size(); ++i)
    out.push_back(static_cast<double>(dims[i]));
  out.resize(4 + most);
  return out;
}

Result<Numbers> summarize(KernelContext& c, std::int64_t mode, double id) {
  const Tensor& x = c.input(0);
  const auto count = static_cast<double>(x.num_elements());
  if (mode == shape)
    return summarize_shape(id, x);
  if (mode != curt_health && mode != concise_health && mode != full_health && mode != three_slots)
    return unimplemented(str_cat("Unimplemented tensor debug mode: ", mode));
  TROUPE_ASSIGN(const Health h, health_of(c));
  switch (mode) {
  case curt_health:
    return Numbers{id, h.is_well() ? 0.0 : 1.0};
  case concise_health:
    return Numbers{id, count, h.negative_inf, h.positive_inf, h.nan};
  case full_health: {
    constexpr double no_device = -1; // devices have numbers in the debugger's files alone
    return Numbers{id,
                   no_device,
                   static_cast<double>(x.dtype()),
                   static_cast<double>(x.shape().rank()),
                   count,
                   h.negative_inf,
                   h.positive_inf,
                   h.nan,
                   h.negative,
                   h.zero,
                   h.positive};
  }
  default: {
    constexpr double inf = std::numeric_limits<double>::infinity();
    return Numbers{h.negative_inf > 0 ? -inf : 0, h.positive_inf > 0 ? inf : 0,
                   h.nan > 0 ? std::nan("") : 0};
  }
  }
}

template <class T>
Status compute_summary(KernelContext& c) {
  constexpr int bits = std::numeric_limits<T>::digits; // above, numbers are not told apart
  const auto id = c.attrs().get_or<std::int64_t>("tensor_id", -1);
  if (id > std::int64_t{1} << bits)
    return invalid_argument(str_cat("DebugNumericSummaryV2Op requires tensor_id to be less than or "
                                    "equal to (2^",
                                    bits, "). Given tensor_id:", id));
  TROUPE_ASSIGN(const Numbers numbers,
                summarize(c, c.attrs().get_or<std::int64_t>("tensor_debug_mode", -1),
                          static_cast<double>(id)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{static_cast<std::int64_t>(numbers.size())}));
  std::ranges::transform(numbers, out.mutable_data<T>().begin(),
                         [](double value) { return static_cast<T>(value); });
  return {};
}

Status compute_identity(KernelContext& c) {
  for (const std::string& url : c.attrs().get_or<std::vector<std::string>>("debug_urls", {}))
    return url.starts_with("file://")
               ? unimplemented(str_cat("DebugIdentityV2 cannot write to ", url,
                                       ": a node does not write the files of the second tfdbg. "
                                       "Watch tensors by RunOptions.debug_options instead"))
               : internal(str_cat("Unsupported debug URL schema in: ", url));
  return c.set_output(0, c.input(0));
}

} // namespace

void register_ops(OpLibrary& library) {
  using enum DType;
  library.op("DebugIdentityV2")
      .input("input: T")
      .output("output: T")
      .attr("T: type; tfdbg_context_id: string = ''; op_name: string = ''; output_slot: int = -1; "
            "tensor_debug_mode: int = -1; debug_urls: list(string) = []; "
            "circular_buffer_size: int = 1000; tfdbg_run_id: string = ''")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_unchanged)
      .not_differentiable("it is for a debugger")
      .cpu_kernel(compute_identity)
      .doc("Its input. A node does not write the files that debug_urls may ask for.");
  const std::vector<DType> summarized = {float32, float64, float16, bfloat16, bool_, int8,  uint8,
                                         int16,   uint16,  int32,   uint32,   int64, uint64};
  library.op("DebugNumericSummaryV2")
      .input("input: T")
      .output("output: output_dtype")
      .attr("output_dtype: {float, double} = DT_FLOAT; T: type; tensor_debug_mode: int = -1; "
            "tensor_id: int = -1")
      .shape_fn(shape_unknown)
      .not_differentiable("it is for a debugger")
      .cpu_kernel(compute_summary<float>,
                  {.types = {{"T", summarized}, {"output_dtype", {float32}}}, .expensive = true})
      .cpu_kernel(compute_summary<double>,
                  {.types = {{"T", summarized}, {"output_dtype", {float64}}}, .expensive = true})
      .doc("A few numbers on the elements: what is none of them, how many there are of each kind, "
           "or the shape, as tensor_debug_mode says.");
}

} // namespace troupe::io_debug_v2
