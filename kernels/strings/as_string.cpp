// AsString: numbers as C's printf writes them.
#include <cstdio>

#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_as_string {
namespace {

struct Format {
  std::string number; ///< printf's, for one number of the dtype as the widest of its kind
  int width = -1;
  std::size_t most = std::string::npos; ///< bytes of a text
  bool left = false;
};

constexpr bool is_float(DType dtype) {
  return is_floating(dtype) || is_complex(dtype);
}

Status check_numbers(DType dtype, std::int64_t precision, bool scientific, bool shortest) {
  if (is_float(dtype) || dtype == DType::string)
    return {};
  if (scientific || shortest)
    return invalid_argument(
        str_cat("scientific and shortest format not supported for datatype ", to_string(dtype)));
  if (precision >= 0)
    return invalid_argument(str_cat("precision not supported for datatype ", to_string(dtype)));
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const auto precision, c.attr<std::int64_t>("precision"));
  TROUPE_ASSIGN(const bool scientific, c.attr<bool>("scientific"));
  TROUPE_ASSIGN(const bool shortest, c.attr<bool>("shortest"));
  TROUPE_ASSIGN(const auto width, c.attr<std::int64_t>("width"));
  TROUPE_ASSIGN(const std::string fill, c.attr<std::string>("fill"));
  const DType dtype = c.input_type(0);
  TROUPE_TRY(check_numbers(dtype, precision, scientific, shortest));
  if (fill.size() > 1)
    return invalid_argument("Fill string must be one or fewer characters");
  if (scientific && shortest)
    return invalid_argument("Cannot select both scientific and shortest notation");
  if (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)
    return invalid_argument(str_cat("Fill argument not supported: \"", fill, "\""));
  constexpr std::int64_t most = 1 << 20; // characters of a number
  if (width > most || precision > most)
    return invalid_argument(
        str_cat("width and precision are at most ", most, ", got ", width, " and ", precision));
  Format out{.number = str_cat("%", fill), .width = static_cast<int>(width), .left = fill == "-"};
  if (width > -1)
    str_append(out.number, width);
  if (precision > -1)
    str_append(out.number, ".", precision);
  if (width > -1 && precision > -1) // a text is cut only where it is padded
    out.most = static_cast<std::size_t>(precision);
  if (is_float(dtype))
    out.number += shortest ? "g" : scientific ? "e" : "f";
  else if (dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32 ||
           dtype == DType::uint64)
    out.number += "llu";
  else
    out.number += "lld";
  return prepared(std::move(out));
}

template <class T>
std::string printed(const std::string& format, T value) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, format.c_str(), value);
  if (size < static_cast<int>(sizeof text))
    return std::string(text, static_cast<std::size_t>(std::max(size, 0)));
  std::string out(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), value);
  out.pop_back();
  return out;
}

template <class T>
std::string text_of(const Format& format, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, std::string>) {
    const auto width = static_cast<std::size_t>(std::max(format.width, 0));
    const std::string shown = value.substr(0, format.most);
    const std::string fill(width > shown.size() ? width - shown.size() : 0, ' ');
    return format.left ? shown + fill : fill + shown;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>)
    return str_cat("(", printed(format.number, static_cast<double>(value.real())), ",",
                   printed(format.number, static_cast<double>(value.imag())), ")");
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return printed(format.number, static_cast<double>(static_cast<float>(value)));
  else if constexpr (std::is_floating_point_v<T>)
    return printed(format.number, static_cast<double>(value));
  else if constexpr (std::is_unsigned_v<T>)
    return printed(format.number, static_cast<unsigned long long>(value));
  else
    return printed(format.number, static_cast<long long>(value));
}

using Shown = Types<float, double, std::int32_t, std::uint8_t, std::int16_t, std::int8_t,
                    std::int64_t, BFloat16, std::uint16_t, Half, std::uint32_t, std::uint64_t,
                    std::complex<float>, std::complex<double>, bool, std::string>;

Status compute(KernelContext& c) {
  const auto& format = c.prepared<Format>();
  const Tensor& in = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, in.shape()));
  const auto to = out.mutable_data<std::string>();
  return dispatch(Shown{}, in.dtype(), [&]<class T>() -> Status {
    const auto from = in.data<T>();
    c.parallel_for(
        in.num_elements(), strings::text_cost, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            to[i] = text_of<T>(format, from[i]);
        });
    return {};
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("AsString")
      .input("input: T")
      .output("output: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, complex64, complex128, bool, variant, string}; precision: int = -1; "
            "scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(compute,
                  {.types = {{"T",
                              {DType::float32, DType::float64, DType::int32, DType::uint8,
                               DType::int16, DType::int8, DType::int64, DType::bfloat16,
                               DType::uint16, DType::float16, DType::uint32, DType::uint64,
                               DType::complex64, DType::complex128, DType::bool_, DType::string}}},
                   .prepare = prepare})
      .doc("Each number as text.");
}

} // namespace troupe::strings_as_string
