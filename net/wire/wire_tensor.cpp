#include "net/wire/wire_tensor.hpp"

#include "core/tensor/variant.hpp"
#include "net/wire/chunk_allocator.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/sec.hpp>

#include <algorithm>
#include <vector>

namespace troupe {

namespace {

// Bytes that the message still holds. Messages come through a binary_deserializer; anything else is
// bounded by the limit of one message.
std::size_t remaining(caf::deserializer& source) {
  if (auto* binary = dynamic_cast<caf::binary_deserializer*>(&source))
    return binary->remaining();
  return max_message_bytes;
}

caf::error save_header(caf::serializer& sink, DType dtype, const Shape& shape) {
  auto number = static_cast<std::int32_t>(dtype);
  auto rank = static_cast<std::uint8_t>(shape.rank());
  if (auto error = sink(number, rank))
    return error;
  for (std::int64_t dim : shape.dims())
    if (auto error = sink(dim))
      return error;
  return caf::none;
}

caf::error load_header(caf::deserializer& source, DType& dtype, Shape& shape) {
  std::int32_t number = 0;
  std::uint8_t rank = 0;
  if (auto error = source(number, rank))
    return error;
  dtype = static_cast<DType>(number);
  if (number != 0 && (!is_known(dtype) || is_ref(dtype)))
    return caf::sec::invalid_argument;
  std::vector<std::int64_t> dims(rank);
  for (std::int64_t& dim : dims)
    if (auto error = source(dim))
      return error;
  auto made = Shape::make(dims);
  if (!made.ok())
    return caf::sec::invalid_argument;
  shape = *std::move(made);
  return caf::none;
}

// What an object takes in a message at least, whatever it holds: lengths are of one byte and more.
template <class T>
constexpr std::size_t least_bytes = 1; // a text: its length
template <>
constexpr std::size_t least_bytes<ResourceHandle> = 4 + sizeof(std::uint64_t);
template <>
constexpr std::size_t least_bytes<Variant> = 2 + sizeof(std::uint32_t);

caf::error save_object(caf::serializer& sink, const std::string& x) {
  return sink(const_cast<std::string&>(x));
}
caf::error save_object(caf::serializer& sink, const ResourceHandle& h) {
  auto& x = const_cast<ResourceHandle&>(h);
  return sink(x.device, x.container, x.name, x.hash_code, x.maybe_type_name);
}
// A variant's tensors come after its bytes, in the form of their own messages.
caf::error save_object(caf::serializer& sink, const Variant& v) {
  auto parts = parts_of(v);
  if (!parts.ok()) // what sends has asked check_writable
    return caf::sec::invalid_argument;
  auto count = static_cast<std::uint32_t>(parts->tensors.size());
  if (auto error = sink(const_cast<Variant&>(v).type_name, parts->metadata, count))
    return error;
  for (const Tensor& tensor : parts->tensors)
    if (auto error = save(sink, tensor))
      return error;
  return caf::none;
}
caf::error load_tensor(caf::deserializer& source, Tensor& tensor, int level);
caf::error load_object(caf::deserializer& source, std::string& x, int) {
  return source(x);
}
caf::error load_object(caf::deserializer& source, ResourceHandle& x, int) {
  return source(x.device, x.container, x.name, x.hash_code, x.maybe_type_name);
}
caf::error load_object(caf::deserializer& source, Variant& x, int level) {
  VariantParts parts;
  std::string type_name;
  std::uint32_t count = 0;
  if (auto error = source(type_name, parts.metadata, count))
    return error;
  // A tensor takes at least five bytes in the message, its dtype and its rank.
  if (level >= max_variant_nesting || count > remaining(source) / 5)
    return caf::sec::end_of_stream;
  parts.tensors.resize(count);
  for (Tensor& tensor : parts.tensors)
    if (auto error = load_tensor(source, tensor, level + 1))
      return error;
  x = make_variant(std::move(type_name), std::move(parts));
  return caf::none;
}

template <class T>
caf::error save_objects(caf::serializer& sink, const Tensor& tensor) {
  for (const T& x : tensor.data<T>())
    if (auto error = save_object(sink, x))
      return error;
  return caf::none;
}

template <class T>
caf::error load_objects(caf::deserializer& source, DType dtype, Shape shape, Tensor& tensor,
                        int level) {
  if (static_cast<std::size_t>(shape.num_elements()) > remaining(source) / least_bytes<T>)
    return caf::sec::end_of_stream;
  tensor = Tensor::make(dtype, std::move(shape));
  for (T& x : tensor.mutable_data<T>())
    if (auto error = load_object(source, x, level))
      return error;
  return caf::none;
}

// `level`: how many variants it lies in.
caf::error load_tensor(caf::deserializer& source, Tensor& tensor, int level) {
  DType dtype = DType::invalid;
  Shape shape;
  if (auto error = load_header(source, dtype, shape))
    return error;
  switch (dtype) {
  case DType::invalid:
    tensor = Tensor{};
    return caf::none;
  case DType::string:
    return load_objects<std::string>(source, dtype, std::move(shape), tensor, level);
  case DType::resource:
    return load_objects<ResourceHandle>(source, dtype, std::move(shape), tensor, level);
  case DType::variant:
    return load_objects<Variant>(source, dtype, std::move(shape), tensor, level);
  default:
    break;
  }
  auto count = static_cast<std::size_t>(shape.num_elements());
  if (count > remaining(source) / dtype_size(dtype))
    return caf::sec::end_of_stream;
  tensor = Tensor::make(dtype, std::move(shape));
  return count ? source.apply_raw(count * dtype_size(dtype), tensor.mutable_raw()) : caf::error{};
}

} // namespace

caf::error save(caf::serializer& sink, const Tensor& tensor) {
  if (auto error = save_header(sink, tensor.dtype(), tensor.shape()))
    return error;
  switch (tensor.dtype()) {
  case DType::invalid:
    return caf::none;
  case DType::string:
    return save_objects<std::string>(sink, tensor);
  case DType::resource:
    return save_objects<ResourceHandle>(sink, tensor);
  case DType::variant:
    return save_objects<Variant>(sink, tensor);
  default:
    break;
  }
  auto bytes = tensor.bytes();
  return bytes.empty() ? caf::error{}
                       : sink.apply_raw(bytes.size(), const_cast<std::byte*>(bytes.data()));
}

caf::error load(caf::deserializer& source, Tensor& tensor) {
  return load_tensor(source, tensor, 0);
}

caf::error save(caf::serializer& sink, const WireTensor& x) {
  std::uint8_t is_ticket = x.is_ticket();
  if (auto error = sink(is_ticket))
    return error;
  if (!is_ticket)
    return save(sink, x.tensor);
  auto ticket = *x.ticket;
  if (auto error = save_header(sink, ticket.dtype, ticket.shape))
    return error;
  auto place = static_cast<std::uint8_t>(ticket.id.place);
  return sink(ticket.source, place, ticket.id.number, ticket.bytes, ticket.placing_us,
              ticket.shown_at, ticket.lane);
}

caf::error load(caf::deserializer& source, WireTensor& x) {
  std::uint8_t is_ticket = 0;
  if (auto error = source(is_ticket))
    return error;
  x.ticket.reset();
  if (!is_ticket)
    return load(source, x.tensor);
  TensorTicket ticket;
  if (auto error = load_header(source, ticket.dtype, ticket.shape))
    return error;
  std::uint8_t place = 0;
  if (auto error = source(ticket.source, place, ticket.id.number, ticket.bytes, ticket.placing_us,
                          ticket.shown_at, ticket.lane))
    return error;
  if (place > static_cast<std::uint8_t>(TicketPlace::unasked))
    return caf::sec::invalid_argument;
  ticket.id.place = static_cast<TicketPlace>(place);
  auto size = dtype_size(ticket.dtype);
  std::uint64_t bytes = 0;
  if (size == 0 ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(ticket.shape.num_elements()), size,
                             &bytes) ||
      bytes != ticket.bytes)
    return caf::sec::invalid_argument;
  x.tensor = Tensor{};
  x.ticket = std::make_shared<const TensorTicket>(std::move(ticket));
  return caf::none;
}

caf::error save(caf::serializer& sink, const TensorChunk& chunk) {
  std::uint64_t length = chunk.length;
  if (auto error = sink(length))
    return error;
  return length
             ? sink.apply_raw(length, static_cast<std::byte*>(chunk.buffer->data()) + chunk.offset)
             : caf::error{};
}

caf::error load(caf::deserializer& source, TensorChunk& chunk) {
  std::uint64_t length = 0;
  if (auto error = source(length))
    return error;
  if (length > remaining(source) || length > max_message_bytes)
    return caf::sec::end_of_stream;
  chunk.offset = 0;
  chunk.length = length;
  chunk.buffer = Buffer::allocate(chunk_allocator(), length);
  if (!chunk.buffer)
    return caf::sec::runtime_error;
  return length ? source.apply_raw(length, chunk.buffer->data()) : caf::error{};
}

} // namespace troupe
