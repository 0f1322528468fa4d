#include "graph/convert/tensor_proto.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <google/protobuf/io/coded_stream.h>

#include "core/base/strings.hpp"
#include "core/tensor/variant.hpp"
#include "graph/convert/internal/proto.hpp"
#include "proto/tensor.pb.h"

namespace troupe {

namespace {

static_assert(std::endian::native == std::endian::little, "tensor_content is little-endian");
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using tensorflow::TensorProto;

template <class T>
constexpr bool is_opaque = false;
template <class Bits, int Tag>
constexpr bool is_opaque<OpaqueBits<Bits, Tag>> = true;
template <class T>
constexpr bool is_byte_float =
    is_opaque<T>&& dtype_of<T> >= DType::float8_e5m2&& dtype_of<T> != DType::int4&& dtype_of<T> !=
    DType::uint4&& dtype_of<T> != DType::int2&& dtype_of<T> != DType::uint2;

ResourceHandle from_message(const tensorflow::ResourceHandleProto& proto) {
  return {proto.device(), proto.container(), proto.name(), proto.hash_code(),
          proto.maybe_type_name()};
}

void to_message(const ResourceHandle& handle, tensorflow::ResourceHandleProto& proto) {
  proto.set_device(handle.device);
  proto.set_container(handle.container);
  proto.set_name(handle.name);
  proto.set_hash_code(handle.hash_code);
  proto.set_maybe_type_name(handle.maybe_type_name);
}

// One without a written form is written as TensorFlow writes it, by its name alone.
void to_message(const Variant& variant, TensorEncoding encoding,
                tensorflow::VariantTensorDataProto& proto) {
  proto.set_type_name(variant.type_name);
  const auto parts = parts_of(variant);
  if (!parts.ok())
    return;
  proto.set_metadata(parts->metadata);
  for (const Tensor& tensor : parts->tensors)
    to_proto(tensor, encoding, *proto.add_tensors());
}

Status from_message(const tensorflow::VariantTensorDataProto& proto, DecodeBudget& budget,
                    Variant& out) {
  if (budget.nesting >= max_variant_nesting)
    return invalid_argument(
        str_cat("variants are nested more than ", max_variant_nesting, " levels deep"));
  VariantParts parts{.metadata = proto.metadata(), .tensors = {}};
  parts.tensors.reserve(static_cast<std::size_t>(proto.tensors_size()));
  ++budget.nesting;
  for (const TensorProto& inner : proto.tensors()) {
    TROUPE_ASSIGN(Tensor tensor, from_proto(inner, budget));
    parts.tensors.push_back(std::move(tensor));
  }
  --budget.nesting;
  out = make_variant(proto.type_name(), std::move(parts));
  return {};
}

Status from_message(const tensorflow::ResourceHandleProto& proto, DecodeBudget&,
                    ResourceHandle& out) {
  out = from_message(proto);
  return {};
}

// How many elements the typed field of T's dtype holds.
template <class T>
std::int64_t field_size(const TensorProto& p) {
  if constexpr (std::is_same_v<T, float>)
    return p.float_val_size();
  else if constexpr (std::is_same_v<T, double>)
    return p.double_val_size();
  else if constexpr (std::is_same_v<T, std::string>)
    return p.string_val_size();
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return p.scomplex_val_size() / 2;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return p.dcomplex_val_size() / 2;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return p.int64_val_size();
  else if constexpr (std::is_same_v<T, bool>)
    return p.bool_val_size();
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return p.half_val_size();
  else if constexpr (std::is_same_v<T, ResourceHandle>)
    return p.resource_handle_val_size();
  else if constexpr (std::is_same_v<T, Variant>)
    return p.variant_val_size();
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return p.uint32_val_size();
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return p.uint64_val_size();
  else if constexpr (is_byte_float<T>)
    return static_cast<std::int64_t>(p.float8_val().size());
  else
    return p.int_val_size();
}

template <class T>
Status read_field(const TensorProto& p, int i, [[maybe_unused]] DecodeBudget& budget, T& out) {
  if constexpr (std::is_same_v<T, float>)
    out = p.float_val(i);
  else if constexpr (std::is_same_v<T, double>)
    out = p.double_val(i);
  else if constexpr (std::is_same_v<T, std::string>)
    out = p.string_val(i);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    out = {p.scomplex_val(2 * i), p.scomplex_val(2 * i + 1)};
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    out = {p.dcomplex_val(2 * i), p.dcomplex_val(2 * i + 1)};
  else if constexpr (std::is_same_v<T, std::int64_t>)
    out = p.int64_val(i);
  else if constexpr (std::is_same_v<T, bool>)
    out = p.bool_val(i);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    out.bits = static_cast<std::uint16_t>(p.half_val(i));
  else if constexpr (std::is_same_v<T, ResourceHandle>)
    return from_message(p.resource_handle_val(i), budget, out);
  else if constexpr (std::is_same_v<T, Variant>)
    return from_message(p.variant_val(i), budget, out);
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    out = p.uint32_val(i);
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    out = p.uint64_val(i);
  else if constexpr (is_byte_float<T>)
    out.bits = static_cast<std::uint8_t>(p.float8_val()[static_cast<std::size_t>(i)]);
  else if constexpr (is_opaque<T>)
    out.bits = static_cast<decltype(out.bits)>(p.int_val(i));
  else
    out = static_cast<T>(p.int_val(i));
  return {};
}

template <class T>
void write_field(const T& value, TensorProto& p) {
  if constexpr (std::is_same_v<T, float>)
    p.add_float_val(value);
  else if constexpr (std::is_same_v<T, double>)
    p.add_double_val(value);
  else if constexpr (std::is_same_v<T, std::string>)
    p.add_string_val(value);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    p.add_scomplex_val(value.real()), p.add_scomplex_val(value.imag());
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    p.add_dcomplex_val(value.real()), p.add_dcomplex_val(value.imag());
  else if constexpr (std::is_same_v<T, std::int64_t>)
    p.add_int64_val(value);
  else if constexpr (std::is_same_v<T, bool>)
    p.add_bool_val(value);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    p.add_half_val(value.bits);
  else if constexpr (std::is_same_v<T, ResourceHandle>)
    to_message(value, *p.add_resource_handle_val());
  else if constexpr (std::is_same_v<T, Variant>)
    to_message(value, TensorEncoding::fields, *p.add_variant_val());
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    p.add_uint32_val(value);
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    p.add_uint64_val(value);
  else if constexpr (is_byte_float<T>)
    p.mutable_float8_val()->push_back(static_cast<char>(value.bits));
  else if constexpr (is_opaque<T>)
    p.add_int_val(value.bits);
  else
    p.add_int_val(value);
}

// Every dtype that there is.
template <class F>
Status with_type(DType dtype, F&& f) {
  switch (dtype) {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  case DType::name:                                                                                \
    return f.template operator()<type>();
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
  case DType::invalid:
    break;
  }
  return invalid_argument(str_cat("a tensor cannot have dtype ", to_string(dtype)));
}

Status allocate(const DecodeBudget& budget, DType dtype, const Shape& shape, Tensor& out) {
  TROUPE_ASSIGN(out, Tensor::allocate(budget.memory(), dtype, shape));
  return {};
}

template <class T>
Status decode_fields(const TensorProto& p, const Shape& shape, DecodeBudget& budget, Tensor& out) {
  const std::int64_t count = shape.num_elements();
  const std::int64_t given = std::min(count, field_size<T>(p));
  if (given < count) {
    std::size_t each = sizeof(T);
    if constexpr (std::is_same_v<T, std::string>)
      each += given ? p.string_val(static_cast<int>(given) - 1).size() : 0;
    std::size_t filled = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(count - given), each, &filled) ||
        !budget.take(filled))
      return resource_exhausted(str_cat("a tensor of shape ", shape, " gives ", given,
                                        " values for ", count,
                                        " elements, and filling them up would go beyond the limit "
                                        "of ",
                                        budget.limit(), " bytes"));
  }
  TROUPE_TRY(allocate(budget, dtype_of<T>, shape, out));
  auto to = out.mutable_data<T>();
  for (std::int64_t i = 0; i < given; ++i)
    TROUPE_TRY(read_field<T>(p, static_cast<int>(i), budget, to[static_cast<std::size_t>(i)]));
  constexpr bool repeats = !std::is_same_v<T, ResourceHandle> && !std::is_same_v<T, Variant>;
  T last{};
  if (repeats && given > 0)
    last = to[static_cast<std::size_t>(given - 1)];
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(given), to.end(), last);
  return {};
}

Status wrong_content(const Shape& shape, DType dtype, std::size_t got) {
  return invalid_argument(str_cat("tensor_content of a ", to_string(dtype), " tensor of shape ",
                                  shape, " has the wrong size: ", got, " bytes"));
}

template <class T>
Status decode_plain_content(const std::string& content, const Shape& shape,
                            const DecodeBudget& budget, Tensor& out) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(shape.num_elements()), sizeof(T), &bytes) ||
      content.size() != bytes)
    return wrong_content(shape, dtype_of<T>, content.size());
  TROUPE_TRY(allocate(budget, dtype_of<T>, shape, out));
  if constexpr (std::is_same_v<T, bool>) { // a bool that is neither 0 nor 1 is not a bool
    auto to = out.mutable_data<bool>();
    for (std::size_t i = 0; i < bytes; ++i)
      to[i] = content[i] != 0;
  } else {
    std::memcpy(out.mutable_raw(), content.data(), bytes);
  }
  return {};
}

// All lengths as varints, then all bytes.
template <class T>
Status decode_object_content(const std::string& content, const Shape& shape, DecodeBudget& budget,
                             Tensor& out) {
  auto count = static_cast<std::size_t>(shape.num_elements());
  if (content.size() < count || content.size() > 0x7fffffffu)
    return wrong_content(shape, dtype_of<T>, content.size());
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(content.data()),
                      static_cast<int>(content.size()));
  std::vector<std::uint32_t> lengths(count);
  std::uint64_t total = 0;
  for (std::uint32_t& length : lengths) {
    if (!in.ReadVarint32(&length))
      return wrong_content(shape, dtype_of<T>, content.size());
    total += length;
  }
  auto at = static_cast<std::size_t>(in.CurrentPosition());
  if (content.size() - at != total)
    return wrong_content(shape, dtype_of<T>, content.size());
  TROUPE_TRY(allocate(budget, dtype_of<T>, shape, out));
  auto to = out.mutable_data<T>();
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view piece(content.data() + at, lengths[i]);
    at += lengths[i];
    if constexpr (std::is_same_v<T, std::string>) {
      to[i] = piece;
    } else {
      std::conditional_t<std::is_same_v<T, Variant>, tensorflow::VariantTensorDataProto,
                         tensorflow::ResourceHandleProto>
          message;
      TROUPE_TRY(parse_bytes(piece, message));
      TROUPE_TRY(from_message(message, budget, to[i]));
    }
  }
  return {};
}

std::string_view serialized(const std::string& text) {
  return text;
}
std::string serialized(const ResourceHandle& handle) {
  tensorflow::ResourceHandleProto message;
  to_message(handle, message);
  return to_bytes(message);
}
std::string serialized(const Variant& variant) {
  tensorflow::VariantTensorDataProto message;
  to_message(variant, TensorEncoding::content, message);
  return to_bytes(message);
}

template <class T>
void encode_object_content(const Tensor& tensor, std::string& content) {
  std::string all;
  for (const T& value : tensor.data<T>()) {
    auto piece = serialized(value);
    std::uint8_t varint[10];
    auto* end =
        CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(piece.size()), varint);
    content.append(reinterpret_cast<char*>(varint), static_cast<std::size_t>(end - varint));
    all += piece;
  }
  content += all;
}

template <class T>
void encode_fields(const Tensor& tensor, TensorProto& proto) {
  auto values = tensor.data<T>();
  std::size_t count = values.size();
  auto same = [](const T& a, const T& b) {
    if constexpr (std::is_same_v<T, std::string>)
      return a == b;
    else if constexpr (std::is_same_v<T, ResourceHandle> || std::is_same_v<T, Variant>)
      return false; // these do not repeat
    else
      return std::memcmp(&a, &b, sizeof(T)) == 0;
  };
  while (count > 1 && same(values[count - 1], values[count - 2]))
    --count;
  for (std::size_t i = 0; i < count; ++i)
    write_field<T>(values[i], proto);
}

} // namespace

Result<Tensor> from_proto(const TensorProto& proto, DecodeBudget& budget) {
  auto dtype = static_cast<DType>(proto.dtype());
  if (!is_known(dtype) || is_ref(dtype))
    return invalid_argument(str_cat("a tensor cannot have dtype ", to_string(dtype)));
  TROUPE_ASSIGN(PartialShape partial, from_proto(proto.tensor_shape()));
  auto shape = partial.to_shape();
  if (!shape)
    return invalid_argument(str_cat("a tensor's shape must be known, and this is ", partial));
  Tensor out;
  TROUPE_TRY(with_type(dtype, [&]<class T>() -> Status {
    if (shape->num_elements() == 0)
      return allocate(budget, dtype, *shape, out);
    if (proto.tensor_content().empty())
      return decode_fields<T>(proto, *shape, budget, out);
    if constexpr (dtype_of<T> == DType::string || dtype_of<T> == DType::resource ||
                  dtype_of<T> == DType::variant)
      return decode_object_content<T>(proto.tensor_content(), *shape, budget, out);
    else
      return decode_plain_content<T>(proto.tensor_content(), *shape, budget, out);
  }));
  return out;
}

void to_proto(const Tensor& tensor, TensorEncoding encoding, TensorProto& proto) {
  proto.Clear();
  proto.set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  to_proto(PartialShape(tensor.shape()), *proto.mutable_tensor_shape());
  bool in_fields = encoding == TensorEncoding::fields ||
                   (encoding == TensorEncoding::graph &&
                    (is_object(tensor.dtype()) || tensor.num_elements() == 1));
  Status status = with_type(tensor.dtype(), [&]<class T>() -> Status {
    constexpr bool object = dtype_of<T> == DType::string || dtype_of<T> == DType::resource ||
                            dtype_of<T> == DType::variant;
    if (in_fields)
      encode_fields<T>(tensor, proto);
    else if constexpr (object)
      encode_object_content<T>(tensor, *proto.mutable_tensor_content());
    else
      proto.mutable_tensor_content()->assign(static_cast<const char*>(tensor.raw()),
                                             tensor.bytes().size());
    return {};
  });
  TROUPE_CHECK(status.ok(), "a tensor that is written has a value");
}

Result<Tensor> tensor_from_bytes(std::string_view bytes, DecodeLimits limits) {
  TensorProto proto;
  TROUPE_TRY(parse_bytes(bytes, proto));
  DecodeBudget budget(limits);
  return from_proto(proto, budget);
}

std::string tensor_to_bytes(const Tensor& tensor, TensorEncoding encoding) {
  TensorProto proto;
  to_proto(tensor, encoding, proto);
  return to_bytes(proto);
}

} // namespace troupe
