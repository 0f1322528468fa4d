#include "core/tensor/literal.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"

namespace troupe {

namespace {

constexpr std::size_t max_filled_bytes = std::size_t{64} << 20;

// The integer with the bits of a floating-point element, and its two plain NaNs.
template <class T>
struct Bits;
template <>
struct Bits<float> {
  using type = std::uint32_t;
  static constexpr type nan = 0x7fc00000u, sign = 0x80000000u;
};
template <>
struct Bits<double> {
  using type = std::uint64_t;
  static constexpr type nan = 0x7ff8000000000000u, sign = 0x8000000000000000u;
};
template <>
struct Bits<Half> {
  using type = std::uint16_t;
  static constexpr type nan = 0x7e00u, sign = 0x8000u;
};
template <>
struct Bits<BFloat16> {
  using type = std::uint16_t;
  static constexpr type nan = 0x7fc0u, sign = 0x8000u;
};

template <class T>
constexpr bool is_float =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool is_complex_type = false;
template <class T>
constexpr bool is_complex_type<std::complex<T>> = true;

/// What a float type is computed in.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T, float>;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string shorten(std::string_view text) {
  constexpr std::size_t limit = 60;
  if (text.size() <= limit)
    return std::string(text);
  return str_cat(text.substr(0, limit), "…");
}

class Reader {
public:
  explicit Reader(std::string_view text) : text_(text), rest_(str_trim(text)) {}

  Result<Tensor> read() {
    std::size_t bracket = rest_.find('[');
    if (bracket == std::string_view::npos)
      return error("has no shape; write a dtype, dimensions in brackets and elements, such as "
                   "'f32[2] 1 2'");
    std::string_view name = str_trim(rest_.substr(0, bracket));
    auto dtype = parse_dtype(name);
    if (!dtype)
      return error(str_cat("has an unknown dtype '", shorten(name),
                           "'; such are f32, f64, bf16, i32, i64, u8, bool, c64 and str"));
    if (is_ref(*dtype))
      return error(str_cat("has the reference dtype '", name, "', which no value has"));
    rest_.remove_prefix(bracket + 1);
    TROUPE_ASSIGN(Shape shape, read_shape());
    Result<Tensor> out = internal("every dtype is read");
    switch (*dtype) {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  case DType::name:                                                                                \
    out = read_elements<type>(shape);                                                              \
    break;
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
    case DType::invalid:
      break;
    }
    return out;
  }

private:
  Status error(std::string_view what) const {
    return invalid_argument(str_cat("tensor literal '", shorten(text_), "' ", what));
  }
  template <class T>
  Status bad_element(std::string_view element) const {
    return error(str_cat("has the element '", shorten(element), "', which is no value of dtype ",
                         to_string(dtype_of<T>)));
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_[0]))
      rest_.remove_prefix(1);
  }
  void skip_separators() {
    while (!rest_.empty() && (is_blank(rest_[0]) || rest_[0] == ','))
      rest_.remove_prefix(1);
  }
  bool skip(char c) {
    skip_blanks();
    if (rest_.empty() || rest_[0] != c)
      return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Up to a separator or `)` at parenthesis depth 0.
  std::string_view read_word() {
    std::size_t n = 0;
    for (int depth = 0; n < rest_.size(); ++n) {
      char c = rest_[n];
      if (c == '(')
        ++depth;
      else if (c == ')' && depth-- == 0)
        break;
      else if ((is_blank(c) || c == ',') && depth == 0)
        break;
    }
    std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }

  Result<Shape> read_shape() {
    std::size_t end = rest_.find(']');
    if (end == std::string_view::npos)
      return error("lacks the ']' after its dimensions");
    std::string_view inside = str_trim(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    std::vector<std::int64_t> dims;
    if (!inside.empty()) {
      for (std::string_view piece : str_split(inside, ',')) {
        auto dim = parse_int(str_trim(piece));
        if (!dim)
          return error(
              str_cat("has the dimension '", shorten(str_trim(piece)), "', which is not a number"));
        dims.push_back(*dim);
      }
    }
    auto shape = Shape::make(dims);
    if (!shape.ok())
      return error(str_cat("is wrong: ", shape.status().message()));
    return shape;
  }

  template <class T>
  Result<Tensor> read_elements(const Shape& shape) {
    // Not std::vector<bool>, which has no elements to refer to.
    std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values;
    const std::int64_t wanted = shape.num_elements();
    for (skip_separators(); !rest_.empty(); skip_separators()) {
      T value{};
      TROUPE_TRY(read_element(value));
      values.push_back(std::move(value));
    }
    const auto given = static_cast<std::int64_t>(values.size());
    if (given != wanted && given != 1)
      return error(str_cat("has ", given, " elements, but shape ", shape, " needs ", wanted,
                           given < wanted ? " (or one for all)" : ""));
    if (given != wanted && static_cast<std::uint64_t>(wanted) >
                               max_filled_bytes / (sizeof(T) + extra_bytes(values[0])))
      return error(str_cat("would fill shape ", shape,
                           " with one element, and that is for tensors to 64 MiB"));
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(host_allocator(), dtype_of<T>, shape));
    auto to = out.mutable_data<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (given == wanted)
        to[i] = std::move(values[i]);
      else
        to[i] = values[0];
    }
    return out;
  }

  template <class T>
  static std::size_t extra_bytes(const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      return value.size();
    else if constexpr (std::is_same_v<T, ResourceHandle>)
      return value.device.size() + value.container.size() + value.name.size() +
             value.maybe_type_name.size();
    else if constexpr (std::is_same_v<T, Variant>)
      return value.type_name.size() + value.metadata.size();
    else
      return 0;
  }

  template <class T>
  Status read_element(T& out) {
    if constexpr (std::is_same_v<T, std::string>) {
      return read_string(out);
    } else if constexpr (std::is_same_v<T, ResourceHandle>) {
      TROUPE_TRY(open("(device, container, name, hash code, type name)"));
      TROUPE_TRY(read_string(out.device));
      TROUPE_TRY(comma());
      TROUPE_TRY(read_string(out.container));
      TROUPE_TRY(comma());
      TROUPE_TRY(read_string(out.name));
      TROUPE_TRY(comma());
      skip_blanks();
      std::string_view word = read_word();
      auto hash = parse_uint(word);
      if (!hash)
        return bad_element<std::uint64_t>(word);
      out.hash_code = *hash;
      TROUPE_TRY(comma());
      TROUPE_TRY(read_string(out.maybe_type_name));
      return close();
    } else if constexpr (std::is_same_v<T, Variant>) {
      TROUPE_TRY(open("(type name, metadata)"));
      TROUPE_TRY(read_string(out.type_name));
      TROUPE_TRY(comma());
      TROUPE_TRY(read_string(out.metadata));
      return close();
    } else if constexpr (is_complex_type<T>) {
      return read_complex(out);
    } else {
      std::string_view word = read_word();
      if (word.empty()) { // a parenthesis that nothing opened
        word = rest_.substr(0, 1);
        return bad_element<T>(word);
      }
      return read_number(word, out);
    }
  }

  Status open(std::string_view form) {
    if (!skip('('))
      return error(str_cat("has the element '", shorten(read_word()), "'; write ", form));
    return {};
  }
  Status comma() {
    return skip(',') ? Status{} : error("lacks a ',' inside an element in parentheses");
  }
  Status close() {
    return skip(')') ? Status{} : error("lacks the ')' after an element in parentheses");
  }

  template <class T>
  Status read_complex(std::complex<T>& out) {
    T re{}, im{};
    if (!skip('(')) {
      std::string_view word = read_word();
      TROUPE_TRY(read_number(word, re));
      out = {re, im};
      return {};
    }
    skip_blanks();
    TROUPE_TRY(read_number(read_word(), re));
    TROUPE_TRY(comma());
    skip_blanks();
    TROUPE_TRY(read_number(read_word(), im));
    out = {re, im};
    return close();
  }

  template <class T>
  Status read_number(std::string_view word, T& out) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (word != "true" && word != "false" && word != "1" && word != "0")
        return bad_element<T>(word);
      out = word == "true" || word == "1";
      return {};
    } else if constexpr (is_float<T>) {
      return read_float(word, out);
    } else if constexpr (std::is_integral_v<T>) {
      auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), out);
      if (code != std::errc{} || end != word.data() + word.size())
        return bad_element<T>(word);
      return {};
    } else { // opaque bits
      auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), out.bits);
      if (code != std::errc{} || end != word.data() + word.size())
        return bad_element<T>(word);
      return {};
    }
  }

  template <class T>
  Status read_float(std::string_view word, T& out) const {
    using B = Bits<T>;
    typename B::type bits{};
    if (word == "nan" || word == "-nan") {
      out = std::bit_cast<T>(
          static_cast<typename B::type>(word == "nan" ? B::nan : (B::nan | B::sign)));
      return {};
    }
    if (word.starts_with("nan(") && word.ends_with(")")) {
      std::string_view digits = word.substr(4, word.size() - 5);
      auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
      if (code != std::errc{} || end != digits.data() + digits.size())
        return bad_element<T>(word);
      out = std::bit_cast<T>(bits);
      if (!std::isnan(static_cast<Wide<T>>(out)))
        return bad_element<T>(word);
      return {};
    }
    Wide<T> wide{};
    auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), wide);
    if (code != std::errc{} || end != word.data() + word.size() || std::isnan(wide))
      return bad_element<T>(word);
    out = static_cast<T>(wide);
    if (std::isinf(static_cast<Wide<T>>(out)) && !std::isinf(wide))
      return bad_element<T>(word);
    return {};
  }

  Status read_string(std::string& out) {
    out.clear();
    if (!skip('"'))
      return error(
          str_cat("has the element '", shorten(read_word()), "'; write a string in double quotes"));
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        return {};
      }
      if (c == '\\') {
        if (++i == rest_.size())
          break;
        switch (rest_[i]) {
        case 'n':
          c = '\n';
          break;
        case 't':
          c = '\t';
          break;
        case 'r':
          c = '\r';
          break;
        case '"':
        case '\\':
          c = rest_[i];
          break;
        case 'x': {
          std::string_view digits = rest_.substr(i + 1, 2);
          unsigned char value = 0;
          auto [end, code] =
              std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
          if (code != std::errc{} || digits.size() != 2 || end != digits.data() + 2)
            return error("has a '\\x' that two hexadecimal digits do not follow");
          c = static_cast<char>(value);
          i += 2;
          break;
        }
        default:
          return error(str_cat("has the unknown escape '\\", rest_[i], "' in a string"));
        }
      }
      out += c;
    }
    return error("has a string without closing quote");
  }

  std::string_view text_; // all of it, for messages
  std::string_view rest_;
};

template <class T>
void write_element(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out += str_quote(value);
  } else if constexpr (std::is_same_v<T, ResourceHandle>) {
    str_append(out, "(", str_quote(value.device), ",", str_quote(value.container), ",",
               str_quote(value.name), ",", value.hash_code, ",", str_quote(value.maybe_type_name),
               ")");
  } else if constexpr (std::is_same_v<T, Variant>) {
    const auto parts = parts_of(value);
    str_append(out, "(", str_quote(value.type_name), ",",
               str_quote(parts.ok() ? parts->metadata : "?"));
    if (parts.ok())
      for (const Tensor& tensor : parts->tensors)
        str_append(out, ",<", to_literal(tensor, 8), ">");
    out += ')';
  } else if constexpr (is_complex_type<T>) {
    out += '(';
    write_element(out, value.real());
    out += ',';
    write_element(out, value.imag());
    out += ')';
  } else if constexpr (is_float<T>) {
    using B = Bits<T>;
    auto wide = static_cast<Wide<T>>(value);
    if (!std::isnan(wide)) {
      str_append(out, wide);
      return;
    }
    auto bits = std::bit_cast<typename B::type>(value);
    if (bits == B::nan) {
      out += "nan";
    } else if (bits == static_cast<typename B::type>(B::nan | B::sign)) {
      out += "-nan";
    } else {
      char digits[20];
      auto end = std::to_chars(digits, digits + sizeof digits, bits, 16).ptr;
      str_append(out, "nan(", std::string_view(digits, end), ")");
    }
  } else if constexpr (std::is_integral_v<T>) {
    str_append(out, value);
  } else {
    str_append(out, value.bits);
  }
}

template <class T>
void write_elements(std::string& out, const Tensor& tensor, std::int64_t max_elements) {
  std::int64_t left = max_elements;
  for (const T& value : tensor.data<T>()) {
    if (max_elements >= 0 && left-- == 0) {
      out += " …";
      return;
    }
    out += ' ';
    write_element(out, value);
  }
}

} // namespace

Result<Tensor> parse_literal(std::string_view text) {
  return Reader(text).read();
}

std::string to_literal(const Tensor& tensor, std::int64_t max_elements) {
  if (!tensor.has_value())
    return "invalid";
  std::string out = str_cat(literal_name(tensor.dtype()), tensor.shape());
  if (tensor.kind() == MemoryKind::device)
    return out + " (in device memory)";
  switch (tensor.dtype()) {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  case DType::name:                                                                                \
    write_elements<type>(out, tensor, max_elements);                                               \
    break;
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  case DType::invalid:
    break;
  }
  return out;
}

} // namespace troupe
