// DebugIdentity, DebugNanCount, DebugNumericSummary: what a debugger that watches a tensor is told
// of it, in files below the folders that the node allows. The worker adds them to a graph whose
// step is watched.
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "storage/debug_dump/debug_dump.hpp"

namespace troupe::io_debug {
namespace {

/// What a session's watches may write, as TensorFlow's default.
constexpr std::uint64_t most_bytes = std::uint64_t{100} << 30;

struct DiskUse {
  std::atomic<std::uint64_t> bytes{0};
};

using Counted = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                      std::int64_t, BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t>;
using Summarized = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                         std::int64_t, bool, std::uint16_t, std::uint32_t, std::uint64_t>;

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

DType declared(const KernelContext& c) {
  return c.attrs().get_or<DType>("T", DType::invalid);
}

DumpedTensor tensor_of(const KernelContext& c, const char* op) {
  DumpedTensor out;
  out.device = c.attrs().get_or<std::string>("device_name", "");
  out.op = op;
  const auto name = c.attrs().get_or<std::string>("tensor_name", "");
  const std::size_t colon = name.rfind(':');
  out.node = name.substr(0, colon);
  if (colon != name.npos)
    out.slot = std::atoi(name.c_str() + colon + 1);
  return out;
}

Status publish(KernelContext& c, const char* op, const Tensor& value) {
  const auto urls = c.attrs().get_or<std::vector<std::string>>("debug_urls", {});
  const std::size_t bytes = value.has_value() ? value.byte_size() : 0;
  const DumpedTensor what = tensor_of(c, op);
  for (const std::string& url : urls) {
    TROUPE_ASSIGN(const std::string root, dump_folder_of(url));
    TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
    auto use = c.step().node_states->get<DiskUse>("__debug_disk_use", [] { return new DiskUse; });
    if (use->bytes.fetch_add(bytes) + bytes > most_bytes) {
      use->bytes.fetch_sub(bytes);
      return resource_exhausted(
          str_cat("TensorFlow Debugger has exhausted file-system byte-size allowance (", most_bytes,
                  "), therefore it cannot dump an additional ", bytes,
                  " byte(s) of tensor data for the debug tensor ", what.node, ":", what.slot,
                  ". Watch fewer tensors, or open another session."));
    }
    TROUPE_TRY(dump_tensor(*files, root, what, value, declared(c), wall_micros()));
  }
  return {};
}

Status identity(KernelContext& c) {
  const Tensor& x = c.input(0);
  TROUPE_TRY(publish(c, "DebugIdentity", x));
  if (x.has_value())
    return c.set_output(0, x);
  return c.allocate_output(0, Shape{0}).status(); // a variable that was not assigned yet
}

Status count_nans(KernelContext& c) {
  const Tensor& x = c.input(0);
  std::int64_t count = 0;
  if (x.has_value())
    TROUPE_TRY(dispatch(Counted{}, x.dtype(), [&]<class T>() -> Status {
      for (T value : x.data<T>())
        count += std::isnan(number(value));
      return {};
    }));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{1}));
  out.mutable_data<std::int64_t>()[0] = count;
  return publish(c, "DebugNanCount", out);
}

/// Elements by kind; the extremes, mean and variance of those that are numbers.
struct Summary {
  double lower = 0, upper = 0; ///< what is not between them counts as infinite
  double negative_inf = 0, negative = 0, zero = 0, positive = 0, positive_inf = 0, nan = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0, squares = 0;
  double finite = 0;

  void add(double x) {
    if (std::isnan(x)) {
      ++nan;
    } else if (std::isinf(x)) {
      ++(x < 0 ? negative_inf : positive_inf);
    } else {
      if (!std::isinf(lower) && x <= lower)
        ++negative_inf;
      else if (!std::isinf(upper) && x >= upper)
        ++positive_inf;
      else
        ++(x < 0 ? negative : x > 0 ? positive : zero);
      min = std::min(min, x);
      max = std::max(max, x);
      sum += x;
      ++finite;
    }
  }
  double mean() const { return finite > 0 ? sum / finite : std::nan(""); }
  void add_square(double x) {
    if (std::isfinite(x))
      squares += (x - mean()) * (x - mean());
  }
  double variance() const { return finite > 0 ? squares / finite : std::nan(""); }
  bool is_healthy() const { return nan == 0 && negative_inf == 0 && positive_inf == 0; }
};

Status summarize(KernelContext& c) {
  const Tensor& x = c.input(0);
  Summary s;
  s.lower = c.attrs().get_or<float>("lower_bound", -std::numeric_limits<float>::infinity());
  s.upper = c.attrs().get_or<float>("upper_bound", std::numeric_limits<float>::infinity());
  if (x.has_value())
    TROUPE_TRY(dispatch(Summarized{}, x.dtype(), [&]<class T>() -> Status {
      for (T value : x.data<T>())
        s.add(number(value));
      for (T value : x.data<T>())
        s.add_square(number(value));
      return {};
    }));
  const Shape shape = x.has_value() ? x.shape() : Shape{};
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{14 + shape.rank()}));
  const double head[] = {x.has_value() ? 1.0 : 0.0,
                         x.has_value() ? static_cast<double>(shape.num_elements()) : 0.0,
                         s.nan,
                         s.negative_inf,
                         s.negative,
                         s.zero,
                         s.positive,
                         s.positive_inf,
                         s.min,
                         s.max,
                         s.mean(),
                         s.variance(),
                         static_cast<double>(declared(c)),
                         static_cast<double>(shape.rank())};
  auto values = out.mutable_data<double>();
  auto at = std::copy(std::begin(head), std::end(head), values.begin());
  std::copy(shape.dims().begin(), shape.dims().end(), at);
  if (c.attrs().get_or<bool>("mute_if_healthy", false) && s.is_healthy())
    return {};
  return publish(c, "DebugNumericSummary", out);
}

Status infer_count(ShapeContext& c) {
  return c.set_output(0, PartialShape{1});
}

Status infer_summary(ShapeContext& c) {
  const PartialShape& x = c.input(0);
  return c.set_output(0, x.has_rank() ? PartialShape{14 + x.rank()} : PartialShape{-1});
}

KernelOptions slow() {
  KernelOptions out;
  out.expensive = true; // it writes files
  return out;
}

KernelOptions slow_of(std::vector<DType> dtypes) {
  KernelOptions out = slow();
  out.types = {{"T", std::move(dtypes)}};
  return out;
}

constexpr auto where = "device_name: string = ''; tensor_name: string = ''; "
                       "debug_urls: list(string) = []";

} // namespace

void register_ops(OpLibrary& library) {
  using enum DType;
  library.op("DebugIdentity")
      .input("input: T")
      .output("output: T")
      .attr(str_cat("T: type; ", where, "; gated_grpc: bool = false"))
      .allows_uninitialized_input()
      .roles({Role::side_effect})
      .shape_fn([](ShapeContext& c) { return c.set_output(0, PartialShape()); })
      .not_differentiable("it is for a debugger")
      .cpu_kernel(identity, slow())
      .doc("Its input, which is written to the folders of debug_urls for a debugger.");
  library.op("DebugNanCount")
      .input("input: T")
      .output("output: int64")
      .attr(str_cat("T: type; ", where, "; gated_grpc: bool = false"))
      .allows_uninitialized_input()
      .roles({Role::side_effect})
      .shape_fn(infer_count)
      .not_differentiable("it is for a debugger")
      .cpu_kernel(count_nans, slow_of({float32, float64, int32, uint8, int16, int8, int64, bfloat16,
                                       uint16, float16, uint32, uint64}))
      .doc("How many elements are no numbers; written to the folders of debug_urls.");
  library.op("DebugNumericSummary")
      .input("input: T")
      .output("output: double")
      .attr(str_cat("T: type; ", where,
                    "; lower_bound: float = -inf; upper_bound: float = inf; "
                    "mute_if_healthy: bool = false; gated_grpc: bool = false"))
      .allows_uninitialized_input()
      .roles({Role::side_effect})
      .shape_fn(infer_summary)
      .not_differentiable("it is for a debugger")
      .cpu_kernel(summarize, slow_of({float32, float64, int32, uint8, int16, int8, int64, bool_,
                                      uint16, uint32, uint64}))
      .doc("Counts, extremes, mean and variance of the elements; written to the folders of "
           "debug_urls.");
}

} // namespace troupe::io_debug
