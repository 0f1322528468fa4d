#include "kernels/framework/tensor_text.hpp"

#include <cmath>
#include <concepts>
#include <cstdlib>

#include "core/base/function_view.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe {
namespace {

template <class T>
std::string shortest_of(T value, int few, int enough) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", few, static_cast<double>(value));
  if (static_cast<T>(std::strtod(text, nullptr)) != value)
    std::snprintf(text, sizeof text, "%.*g", enough, static_cast<double>(value));
  return text;
}

/// Escapes as C's, with UTF-8 left as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    char code[8];
    switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '"':
      out += "\\\"";
      break;
    case '\'':
      out += "\\'";
      break;
    case '\\':
      out += "\\\\";
      break;
    default:
      if (byte >= 0x20 && byte != 0x7F) {
        out += c;
        break;
      }
      std::snprintf(code, sizeof code, "\\%03o", byte);
      out += code;
    }
  }
  return out;
}

template <class T>
concept Shown = std::integral<T> || std::floating_point<T> || std::same_as<T, Half> ||
    std::same_as<T, BFloat16> || std::same_as<T, std::string>;

template <class T>
std::string element(const T& value, [[maybe_unused]] bool quoted) {
  if constexpr (std::same_as<T, std::string>)
    return quoted ? str_cat('"', escaped(value), '"') : escaped(value);
  else if constexpr (std::same_as<T, bool>)
    return value ? "1" : "0";
  else if constexpr (std::integral<T>)
    return std::to_string(value);
  else if constexpr (std::same_as<T, double>)
    return shortest(value);
  else
    return shortest(static_cast<float>(value));
}

void append_spacing(std::string& out, int dim, int rank) {
  if (dim == rank - 1) {
    out += ' ';
    return;
  }
  out.append(static_cast<std::size_t>(rank - dim - 1), '\n');
  out.append(static_cast<std::size_t>(dim + 1), ' ');
}

using ElementText = FunctionView<std::string(std::int64_t)>;

void append_nested(std::string& out, const Shape& shape, int dim, std::int64_t at,
                   std::int64_t at_ends, ElementText element) {
  if (dim == shape.rank()) {
    out += element(at);
    return;
  }
  out += '[';
  const std::int64_t count = shape.dim(dim), last = std::max(at_ends, count - at_ends);
  std::int64_t step = 1;
  for (int i = dim + 1; i < shape.rank(); ++i)
    step *= shape.dim(i);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i == at_ends && i < last) {
      append_spacing(out, dim, shape.rank());
      out += "...";
      i = last - 1;
      continue;
    }
    if (i > 0 || at_ends == 0)
      append_spacing(out, dim, shape.rank());
    append_nested(out, shape, dim + 1, at + step * i, at_ends, element);
  }
  out += ']';
}

void append_first(std::string& out, const Shape& shape, int dim, std::int64_t& at,
                  std::int64_t limit, ElementText element) {
  if (at >= limit)
    return;
  const bool is_row = dim == shape.rank() - 1;
  for (std::int64_t i = 0; i < shape.dim(dim); ++i) {
    if (is_row) {
      if (at >= limit) {
        out += dim != 0 ? "..." : "";
        return;
      }
      out += i > 0 ? " " : "";
      out += element(at++);
    } else if (at < limit) {
      out += '[';
      append_first(out, shape, dim + 1, at, limit, element);
      out += ']';
    }
  }
}

/// The text of an element, or "?" for dtypes that are not shown.
template <class F>
void with_elements(const Tensor& tensor, bool quoted, F&& f) {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  if constexpr (Shown<type>)                                                                       \
    if (tensor.dtype() == DType::name) {                                                           \
      const auto data = tensor.data<type>();                                                       \
      return f(ElementText([&](std::int64_t i) {                                                   \
        return element<type>(data[static_cast<std::size_t>(i)], quoted);                           \
      }));                                                                                         \
    }
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
}

bool is_shown(DType dtype) {
  bool out = false;
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  out = out || (Shown<type> && dtype == DType::name);
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  return out;
}

std::string question_marks(std::int64_t count, bool is_cut) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i)
    out += i > 0 ? " ?" : "?";
  return out + (is_cut ? "..." : "");
}

} // namespace

std::string shortest(float value) {
  return shortest_of(value, 6, 9);
}
std::string shortest(double value) {
  return shortest_of(value, 15, 17);
}

std::string summarize_nested(const Tensor& tensor, std::int64_t most) {
  const std::int64_t count = tensor.num_elements();
  const std::int64_t limit = most < 0 ? count : std::min(most, count);
  if (!is_shown(tensor.dtype()))
    return str_cat("[", question_marks(limit, limit < count), "]");
  if (tensor.dtype() == DType::bool_ && count == 0)
    return ""; // of other dtypes the brackets are left
  std::string out;
  with_elements(tensor, true, [&](ElementText element) {
    append_nested(out, tensor.shape(), 0, 0, limit, element);
  });
  return out;
}

std::string summarize_first(const Tensor& tensor, std::int64_t most) {
  const std::int64_t count = tensor.num_elements();
  const std::int64_t limit = most < 0 ? count : std::min(most, count);
  if (!is_shown(tensor.dtype()))
    return question_marks(limit, limit < count);
  std::string out;
  with_elements(tensor, false, [&](ElementText element) {
    std::int64_t at = 0;
    if (!tensor.shape().is_scalar())
      append_first(out, tensor.shape(), 0, at, limit, element);
    else if (limit > 0)
      out += element(0);
  });
  return out + (limit < count ? "..." : "");
}

std::string debug_string(const Tensor& tensor) {
  return str_cat("Tensor<type: ", to_string(tensor.dtype()), " shape: ", tensor.shape(),
                 " values: ", summarize_first(tensor, 3), ">");
}

} // namespace troupe
