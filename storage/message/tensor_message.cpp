#include "storage/message/tensor_message.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "storage/message/message.hpp"

namespace troupe {
namespace {

constexpr int content_field = 4, string_field = 8, resource_field = 14, variant_field = 15,
              float8_field = 18;

/// The typed field of a dtype, and how its elements lie on the wire: 0 varints, 1 eight bytes, 2
/// one byte each in a string, 5 four bytes; complex numbers are two of them.
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
  case DType::float8_e5m2:
  case DType::float8_e4m3fn:
  case DType::float8_e4m3fnuz:
  case DType::float8_e4m3b11fnuz:
  case DType::float8_e5m2fnuz:
  case DType::float4_e2m1fn:
    return {float8_field, 2};
  default:
    return {7, 0};
  }
}

/// Whether varints of a negative element are those of an int64 or int32, which take ten bytes.
bool is_signed(DType dtype) {
  switch (dtype) {
  case DType::int8:
  case DType::int16:
  case DType::int32:
  case DType::int64:
  case DType::qint8:
  case DType::qint16:
  case DType::qint32:
  case DType::int4:
  case DType::int2:
    return true;
  default:
    return false;
  }
}

/// Takes the elements of a typed field, one by one or packed, as the bytes that they are in memory.
class Elements {
public:
  Elements(DType dtype, std::size_t size) : field_(field_of(dtype)), size_(size) {}

  bool take(const MessageReader& in) {
    if (in.field() != field_.number)
      return true;
    if (!in.is_bytes()) {
      append(field_.kind == 0 ? in.integer() : field_.kind == 1 ? in.fixed64() : in.fixed32());
      return true;
    }
    std::string_view packed = in.bytes();
    if (field_.kind == 2) {
      bytes_ += packed;
      return true;
    }
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
  void append(std::uint64_t value) {
    const std::size_t width = field_.kind == 1 ? 8 : field_.kind == 5 ? 4 : size_;
    bytes_.append(reinterpret_cast<const char*>(&value), std::min<std::size_t>(width, 8));
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
  std::vector<std::string_view> texts; ///< of object dtypes, one for each element that is there
};

int object_field(DType dtype) {
  return dtype == DType::resource  ? resource_field
         : dtype == DType::variant ? variant_field
                                   : string_field;
}

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
  }
  if (!in.ok() || !is_known(out.dtype) || is_ref(out.dtype))
    return damaged();
  if (!is_object(out.dtype))
    return out;
  MessageReader again(message);
  while (again.next())
    if (again.field() == object_field(out.dtype))
      out.texts.push_back(again.bytes());
  return out;
}

/// The texts of a list: their lengths, then they themselves. False for what is none.
bool take_list(std::string_view list, std::int64_t count, std::vector<std::string_view>& out) {
  std::vector<std::uint64_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto length = take_varint(list);
    if (!length)
      return false;
    lengths.push_back(*length);
  }
  out.clear();
  for (std::uint64_t length : lengths) {
    if (length > list.size())
      return false;
    out.push_back(list.substr(0, static_cast<std::size_t>(length)));
    list.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

std::string list_of(const std::vector<std::string>& texts) {
  MessageWriter out;
  for (const std::string& text : texts)
    out.varint(text.size());
  for (const std::string& text : texts)
    out.raw(text.data(), text.size());
  return out.take();
}

std::string resource_message(const ResourceHandle& handle) {
  MessageWriter out;
  const std::string* texts[] = {&handle.device, &handle.container, &handle.name};
  for (int i = 0; i < 3; ++i)
    if (!texts[i]->empty())
      out.bytes(i + 1, *texts[i]);
  if (handle.hash_code != 0)
    out.integer(4, handle.hash_code);
  if (!handle.maybe_type_name.empty())
    out.bytes(5, handle.maybe_type_name);
  return out.take();
}

bool resource_from_message(std::string_view message, ResourceHandle& out) {
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      out.device = in.bytes();
    else if (in.field() == 2)
      out.container = in.bytes();
    else if (in.field() == 3)
      out.name = in.bytes();
    else if (in.field() == 4)
      out.hash_code = in.integer();
    else if (in.field() == 5)
      out.maybe_type_name = in.bytes();
  }
  return in.ok();
}

Result<Tensor> read_tensor(std::string_view message, Allocator& allocator, int nesting);

Result<Variant> read_variant(std::string_view message, Allocator& allocator, int nesting) {
  if (nesting >= max_variant_nesting)
    return invalid_argument(
        str_cat("variants are nested more than ", max_variant_nesting, " levels deep"));
  std::string type_name;
  VariantParts parts;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      type_name = in.bytes();
    else if (in.field() == 2)
      parts.metadata = in.bytes();
    else if (in.field() == 3) {
      TROUPE_ASSIGN(Tensor tensor, read_tensor(in.bytes(), allocator, nesting + 1));
      parts.tensors.push_back(std::move(tensor));
    }
  }
  if (!in.ok())
    return damaged();
  return make_variant(std::move(type_name), std::move(parts));
}

/// Of an object dtype.
Result<Tensor> read_objects(Header header, Allocator& allocator, int nesting) {
  const std::int64_t count = header.shape.num_elements();
  if (!header.content.empty() && !take_list(header.content, count, header.texts))
    return damaged();
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, header.dtype, header.shape));
  // The last element stands for all that are left out.
  const auto text = [&](std::size_t i) {
    return header.texts[std::min(i, header.texts.size() - 1)];
  };
  const auto size = header.texts.empty() ? 0 : static_cast<std::size_t>(count);
  if (header.dtype == DType::string) {
    for (std::size_t i = 0; i < size; ++i) {
      TROUPE_TRY(out.charge(text(i).size()));
      out.mutable_data<std::string>()[i] = text(i);
    }
  } else if (header.dtype == DType::resource) {
    for (std::size_t i = 0; i < size; ++i)
      if (!resource_from_message(text(i), out.mutable_data<ResourceHandle>()[i]))
        return damaged();
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      if (i >= header.texts.size()) {
        out.mutable_data<Variant>()[i] = out.data<Variant>()[i - 1];
        continue;
      }
      TROUPE_ASSIGN(out.mutable_data<Variant>()[i], read_variant(text(i), allocator, nesting));
    }
  }
  TROUPE_TRY(out.settle(allocator));
  return out;
}

/// Bytes of other values than 0 and 1 are no bools in memory.
void make_bools(Tensor& tensor) {
  auto* at = static_cast<unsigned char*>(tensor.mutable_raw());
  std::transform(at, at + tensor.bytes().size(), at,
                 [](unsigned char c) { return c != 0 ? 1 : 0; });
}

Result<Tensor> read_tensor(std::string_view message, Allocator& allocator, int nesting) {
  TROUPE_ASSIGN(Header header, read_header(message));
  if (is_object(header.dtype))
    return read_objects(std::move(header), allocator, nesting);
  const std::size_t size = dtype_size(header.dtype);
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, header.dtype, header.shape));
  const std::size_t wanted = out.bytes().size();
  auto* to = static_cast<char*>(out.mutable_raw());
  if (!header.content.empty()) {
    if (header.content.size() != wanted)
      return damaged();
    std::memcpy(to, header.content.data(), wanted);
  } else {
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
  }
  if (header.dtype == DType::bool_)
    make_bools(out);
  return out;
}

std::string shape_message(const Shape& shape) {
  MessageWriter out;
  for (std::int64_t dim : shape.dims()) {
    MessageWriter one;
    if (dim != 0)
      one.signed_integer(1, dim);
    out.message(2, one);
  }
  return out.take();
}

/// An element of `size` bytes, as the number that a varint has of it.
std::uint64_t number_at(const std::byte* at, std::size_t size, bool with_sign) {
  std::uint64_t out = 0;
  std::memcpy(&out, at, size);
  if (with_sign && size < 8 && (out >> (8 * size - 1) & 1) != 0)
    out |= ~std::uint64_t{0} << (8 * size);
  return out;
}

} // namespace

Result<std::string> tensor_message(const Tensor& tensor, Texts form) {
  MessageWriter out;
  out.signed_integer(1, static_cast<std::int64_t>(tensor.dtype()))
      .bytes(2, shape_message(tensor.shape()));
  std::vector<std::string> texts;
  if (tensor.dtype() == DType::string && form == Texts::content) {
    texts.assign(tensor.data<std::string>().begin(), tensor.data<std::string>().end());
  } else if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.data<std::string>())
      out.bytes(string_field, text);
  } else if (tensor.dtype() == DType::resource) {
    for (const ResourceHandle& handle : tensor.data<ResourceHandle>())
      texts.push_back(resource_message(handle));
  } else if (tensor.dtype() == DType::variant) {
    for (const Variant& variant : tensor.data<Variant>()) {
      TROUPE_ASSIGN(std::string text, variant_message(variant));
      texts.push_back(std::move(text));
    }
  } else if (tensor.num_elements() > 0) {
    const auto bytes = tensor.bytes();
    out.bytes(content_field, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (!texts.empty())
    out.bytes(content_field, list_of(texts));
  return out.take();
}

Result<Tensor> tensor_from_message(std::string_view message, Allocator& allocator) {
  return read_tensor(message, allocator, 0);
}

/// A tensor within a variant: its elements are in typed fields.
static Result<std::string> inner_message(const Tensor& tensor) {
  MessageWriter out;
  out.signed_integer(1, static_cast<std::int64_t>(tensor.dtype()))
      .bytes(2, shape_message(tensor.shape()));
  if (tensor.dtype() == DType::resource) {
    for (const ResourceHandle& handle : tensor.data<ResourceHandle>())
      out.bytes(resource_field, resource_message(handle));
  } else if (tensor.dtype() == DType::variant) {
    for (const Variant& variant : tensor.data<Variant>()) {
      TROUPE_ASSIGN(const std::string text, variant_message(variant));
      out.bytes(variant_field, text);
    }
  } else {
    TROUPE_ASSIGN(const std::string elements, elements_message(tensor));
    out.raw(elements.data(), elements.size());
  }
  return out.take();
}

Result<std::string> variant_message(const Variant& variant) {
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  MessageWriter out;
  if (!variant.type_name.empty())
    out.bytes(1, variant.type_name);
  if (!parts.metadata.empty())
    out.bytes(2, parts.metadata);
  for (const Tensor& tensor : parts.tensors) {
    TROUPE_ASSIGN(const std::string text, inner_message(tensor));
    out.bytes(3, text);
  }
  return out.take();
}

Result<Variant> variant_from_message(std::string_view message, Allocator& allocator) {
  return read_variant(message, allocator, 0);
}

Result<std::string> elements_message(const Tensor& tensor) {
  MessageWriter out;
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.data<std::string>())
      out.bytes(string_field, text);
    return out.take();
  }
  if (is_object(tensor.dtype()))
    return unimplemented(str_cat("elements of dtype ", to_string(tensor.dtype()),
                                 " cannot be written without their tensor"));
  if (tensor.num_elements() == 0)
    return std::string();
  const Field field = field_of(tensor.dtype());
  const auto bytes = tensor.bytes();
  if (field.kind != 0) {
    out.bytes(field.number, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return out.take();
  }
  const std::size_t size = dtype_size(tensor.dtype());
  MessageWriter packed;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    packed.varint(number_at(bytes.data() + at, size, is_signed(tensor.dtype())));
  out.message(field.number, packed);
  return out.take();
}

Result<Tensor> tensor_from_elements(std::string_view message, DType dtype, const Shape& shape,
                                    Allocator& allocator) {
  const auto wrong = [&](std::size_t count) {
    return invalid_argument(str_cat("there are ", count, " elements of dtype ", to_string(dtype),
                                    " for a shape of ", shape));
  };
  MessageReader in(message);
  if (dtype == DType::string) {
    std::vector<std::string_view> texts;
    while (in.next())
      if (in.field() == string_field)
        texts.push_back(in.bytes());
    if (!in.ok())
      return damaged();
    if (std::ssize(texts) != shape.num_elements())
      return wrong(texts.size());
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, dtype, shape));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      TROUPE_TRY(out.charge(texts[i].size()));
      out.mutable_data<std::string>()[i] = texts[i];
    }
    return out;
  }
  const std::size_t size = dtype_size(dtype);
  if (size == 0)
    return unimplemented(
        str_cat("elements of dtype ", to_string(dtype), " cannot be read without their tensor"));
  Elements elements(dtype, size);
  while (in.next())
    if (!elements.take(in))
      return damaged();
  if (!in.ok())
    return damaged();
  const std::string& bytes = elements.bytes();
  if (bytes.size() % size != 0 ||
      bytes.size() / size != static_cast<std::uint64_t>(shape.num_elements()))
    return wrong(bytes.size() / size);
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, dtype, shape));
  std::memcpy(out.mutable_raw(), bytes.data(), bytes.size());
  if (dtype == DType::bool_)
    make_bools(out);
  return out;
}

} // namespace troupe
