// TensorProto's bytes, both ways.
#include <cstring>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/io/internal/summary.hpp"

namespace troupe::io {
namespace {

constexpr int content_field = 4, string_field = 8;

/// The typed field of a dtype, and how its elements lie on the wire: 0 varints, 1 eight bytes, 5
/// four bytes; complex numbers are two of them.
struct Field {
  int number = 0;
  unsigned kind = 0;
};
Field field_of(DType dtype) {
  switch (dtype) {
  case DType::float32:
    return {5, 5};
  case DType::float64:
    return {6, 1};
  case DType::complex64:
    return {9, 5};
  case DType::int64:
    return {10, 0};
  case DType::bool_:
    return {11, 0};
  case DType::complex128:
    return {12, 1};
  case DType::float16:
  case DType::bfloat16:
    return {13, 0};
  case DType::uint32:
    return {16, 0};
  case DType::uint64:
    return {17, 0};
  default:
    return {7, 0};
  }
}

/// Takes the elements of a typed field, one by one or packed, as the bytes that they are in memory.
class Elements {
public:
  Elements(DType dtype, std::size_t size) : field_(field_of(dtype)), size_(size) {}

  bool take(const MessageReader& in) {
    if (in.field() != field_.number)
      return true;
    if (!in.is_bytes())
      return append(field_.kind == 0   ? in.integer()
                    : field_.kind == 1 ? in.fixed64()
                                       : in.fixed32());
    std::string_view packed = in.bytes();
    while (!packed.empty()) {
      std::uint64_t value = 0;
      const std::size_t bytes = field_.kind == 1 ? 8 : 4;
      if (field_.kind == 0) {
        const auto number = take_varint(packed);
        if (!number)
          return false;
        value = *number;
      } else {
        if (packed.size() < bytes)
          return false;
        std::memcpy(&value, packed.data(), bytes);
        packed.remove_prefix(bytes);
      }
      append(value);
    }
    return true;
  }
  const std::string& bytes() const { return bytes_; }

private:
  bool append(std::uint64_t value) {
    const std::size_t width = field_.kind == 1 ? 8 : field_.kind == 5 ? 4 : size_;
    bytes_.append(reinterpret_cast<const char*>(&value), std::min<std::size_t>(width, 8));
    return true;
  }
  Field field_;
  std::size_t size_;
  std::string bytes_;
};

Status damaged() {
  return invalid_argument("Could not parse `serialized` as TensorProto");
}

Result<Shape> shape_from(std::string_view message) {
  std::vector<std::int64_t> dims;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() != 2)
      continue;
    std::int64_t size = 0;
    MessageReader one(in.bytes());
    while (one.next())
      if (one.field() == 1)
        size = one.signed_integer();
    if (!one.ok())
      return damaged();
    dims.push_back(size);
  }
  if (!in.ok())
    return damaged();
  return Shape::make(dims);
}

/// What a message says, before its elements are taken.
struct Header {
  DType dtype = DType::invalid;
  Shape shape;
  std::string_view content;
  std::vector<std::string_view> texts;
};

Result<Header> read_header(std::string_view message) {
  Header out;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      out.dtype = static_cast<DType>(in.signed_integer());
    else if (in.field() == 2) {
      TROUPE_ASSIGN(out.shape, shape_from(in.bytes()));
    } else if (in.field() == content_field)
      out.content = in.bytes();
    else if (in.field() == string_field)
      out.texts.push_back(in.bytes());
  }
  if (!in.ok() || !is_known(out.dtype) || is_ref(out.dtype))
    return damaged();
  return out;
}

Result<Tensor> text_tensor(const Header& header, Allocator& allocator) {
  std::vector<std::string_view> texts = header.texts;
  if (!header.content.empty()) { // lengths, then text
    std::vector<std::uint64_t> lengths;
    std::string_view rest = header.content;
    for (std::int64_t i = 0; i < header.shape.num_elements(); ++i) {
      const auto length = take_varint(rest);
      if (!length)
        return damaged();
      lengths.push_back(*length);
    }
    texts.clear();
    for (std::uint64_t length : lengths) {
      if (length > rest.size())
        return damaged();
      texts.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, DType::string, header.shape));
  const auto to = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < to.size() && !texts.empty(); ++i)
    to[i] = texts[std::min(i, texts.size() - 1)];
  return out;
}

} // namespace

std::vector<DType> message_dtypes() {
  std::vector<DType> out = {
#define TROUPE_DTYPE(name, number, size, literal, type) DType::name,
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  };
  std::erase_if(out, [](DType dtype) { return is_object(dtype) && dtype != DType::string; });
  return out;
}

Result<std::string> tensor_message(const Tensor& tensor) {
  if (tensor.dtype() != DType::string && is_object(tensor.dtype()))
    return unimplemented(
        str_cat("a tensor of dtype ", to_string(tensor.dtype()), " cannot be made a message"));
  MessageWriter shape, out;
  for (std::int64_t dim : tensor.shape().dims()) {
    MessageWriter one;
    if (dim != 0)
      one.signed_integer(1, dim);
    shape.message(2, one);
  }
  out.signed_integer(1, static_cast<std::int64_t>(tensor.dtype())).message(2, shape);
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.data<std::string>())
      out.bytes(string_field, text);
  } else if (tensor.num_elements() > 0) {
    const auto bytes = tensor.bytes();
    out.bytes(content_field, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return out.take();
}

Result<Tensor> tensor_from_message(std::string_view message, Allocator& allocator) {
  TROUPE_ASSIGN(const Header header, read_header(message));
  if (header.dtype == DType::string)
    return text_tensor(header, allocator);
  if (is_object(header.dtype))
    return unimplemented(
        str_cat("a tensor of dtype ", to_string(header.dtype), " cannot be read from a message"));
  const std::size_t size = dtype_size(header.dtype);
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, header.dtype, header.shape));
  const std::size_t wanted = out.bytes().size();
  auto* to = static_cast<char*>(out.mutable_raw());
  if (!header.content.empty()) {
    if (header.content.size() != wanted)
      return damaged();
    std::memcpy(to, header.content.data(), wanted);
    return out;
  }
  Elements elements(header.dtype, size);
  MessageReader in(message);
  while (in.next())
    if (!elements.take(in))
      return damaged();
  // The last element stands for all that are left out; without any they are 0.
  const std::string& bytes = elements.bytes();
  const std::size_t given = bytes.size() / size * size;
  std::memset(to, 0, wanted);
  std::memcpy(to, bytes.data(), std::min(given, wanted));
  for (std::size_t at = given; given > 0 && at < wanted; at += size)
    std::memcpy(to + at, bytes.data() + given - size, size);
  return out;
}

} // namespace troupe::io
