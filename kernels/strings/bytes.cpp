// DecodeRaw, DecodePaddedRaw: bytes as numbers. EncodeBase64, DecodeBase64: bytes as letters that
// stand in web addresses.
#include <algorithm>
#include <cstring>

#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_bytes {
namespace {

// One input text is a row of the output.

void put_row(std::string_view text, bool is_little, std::size_t size, std::byte* to) {
  std::memcpy(to, text.data(), text.size());
  if (is_little || size == 1)
    return;
  for (std::byte* end = to + text.size(); to != end; to += size)
    std::reverse(to, to + size);
}

/// The size of what is turned round: a complex number has two parts.
std::size_t part_size(DType dtype) {
  return is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
}

Status infer_raw(ShapeContext& c) {
  if (!c.input(0).has_rank())
    return c.set_output(0, PartialShape());
  std::vector<std::int64_t> dims = c.input(0).dims();
  dims.push_back(-1);
  return c.set_output(0, PartialShape(std::move(dims)));
}

Status decode_raw(KernelContext& c) {
  const auto in = c.input(0).data<std::string>();
  const DType dtype = c.output_type(0);
  const std::size_t size = dtype_size(dtype);
  const std::size_t length = in.empty() ? 0 : in[0].size();
  for (std::size_t i = 1; i < in.size(); ++i)
    if (in[i].size() != length)
      return invalid_argument(
          str_cat("DecodeRaw requires input strings to all be the same size, but "
                  "element ",
                  i, " has size ", length, " != ", in[i].size()));
  if (length % size != 0)
    return invalid_argument(str_cat("Input to DecodeRaw has length ", length,
                                    " that is not a multiple of ", size, ", the size of ",
                                    to_string(dtype)));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape().with_appended(
                                                     static_cast<std::int64_t>(length / size))));
  const bool is_little = c.attrs().get_or("little_endian", true);
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  for (std::size_t i = 0; i < in.size(); ++i)
    put_row(in[i], is_little, part_size(dtype), to + i * length);
  if (dtype == DType::bool_) // every byte but 0 is true
    for (std::int64_t i = 0; i < out.num_elements(); ++i)
      to[i] = std::byte{to[i] != std::byte{0}};
  return {};
}

Status decode_padded(KernelContext& c) {
  const auto in = c.input(0).data<std::string>();
  const DType dtype = c.output_type(0);
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(str_cat("k must be scalar, got shape ", c.input(1).shape()));
  const std::int64_t length = c.input(1).value<std::int32_t>();
  if (length % size != 0)
    return invalid_argument(str_cat("fixed_length (", length,
                                    ") must be a multiple of the size of out_type (", size, ")"));
  if (length <= 0)
    return invalid_argument(str_cat("fixed_length (", length, ") must be greater than zero."));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape().with_appended(length / size)));
  const bool is_little = c.attrs().get_or("little_endian", true);
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  std::string row;
  for (const std::string& text : in) {
    row.assign(text, 0, static_cast<std::size_t>(length));
    row.resize(static_cast<std::size_t>(length));
    put_row(row, is_little, part_size(dtype), to);
    to += length;
  }
  return {};
}

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view text, bool pads) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(3, text.size()))) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      if (i <= text.size())
        out += letters[bits >> (18 - 6 * i) & 63];
      else if (pads)
        out += '=';
  }
  return out;
}

Result<std::string> decoded(std::string_view text) {
  const std::size_t whole = text.size();
  if (text.ends_with("==") && whole % 4 == 0)
    text.remove_suffix(2);
  else if (text.ends_with('=') && whole % 4 == 0)
    text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return invalid_argument("Base64 string length cannot be 1 modulo 4.");
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char one : text) {
    const std::size_t value = letters.find(one);
    if (value == std::string_view::npos)
      return invalid_argument("Invalid character found in base64.");
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFF;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xFF);
    }
  }
  return out;
}

Status encode_base64(KernelContext& c) {
  const bool pads = c.attrs().get_or("pad", false);
  return strings::map_text(c, [&](const std::string& text) { return encoded(text, pads); });
}

Status decode_base64(KernelContext& c) {
  const auto in = c.input(0).data<std::string>();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    TROUPE_ASSIGN(out.mutable_data<std::string>()[i], decoded(in[i]));
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DecodeRaw")
      .input("bytes: string")
      .output("output: out_type")
      .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
            "complex128, bool, bfloat16}; little_endian: bool = true")
      .shape_fn(infer_raw)
      .not_differentiable("its input is text")
      .cpu_kernel(decode_raw)
      .doc("The bytes of each text as numbers, in a dimension of their own.");
  library.op("DecodePaddedRaw")
      .input("input_bytes: string; fixed_length: int32")
      .output("output: out_type")
      .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}; "
            "little_endian: bool = true")
      .shape_fn(infer_raw)
      .not_differentiable("its input is text")
      .cpu_kernel(decode_padded)
      .doc("The first `fixed_length` bytes of each text as numbers, zeros where it is shorter.");
  library.op("EncodeBase64")
      .input("input: string")
      .output("output: string")
      .attr("pad: bool = false")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(encode_base64)
      .doc("The bytes of each text as letters, digits, '-' and '_', filled up with '=' if `pad`.");
  library.op("DecodeBase64")
      .input("input: string")
      .output("output: string")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(decode_base64)
      .doc("The bytes that EncodeBase64 made each text of.");
}

} // namespace troupe::strings_bytes
