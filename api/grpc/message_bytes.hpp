// Messages as bytes, field by field: a graph or a tensor of hundreds of megabytes would be copied
// once more by protobuf's own readers and writers. What the two codecs share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/grpc/answer_bytes.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"

namespace troupe::message_bytes {

/// One field of a message: its number, and its value as it lies in the message's bytes.
struct Field {
  int number = 0;
  std::string_view bytes;         ///< of a string, bytes or message
  std::uint64_t number_value = 0; ///< of an integer
  std::int64_t as_int() const { return static_cast<std::int64_t>(number_value); }
  std::string text() const { return std::string(bytes); }
};

/// Calls `take` for each field in turn, until one fails. INVALID_ARGUMENT "the request is no WHAT"
/// for bytes that are no message. The bytes of a field are those of `bytes`.
Status for_each_field(std::string_view bytes, std::string_view what,
                      const std::function<Status(const Field&)>& take);

void append_varint(std::string& out, std::uint64_t value);
/// The beginning of a string, of bytes or of a message that is so long.
void append_length(std::string& out, int field, std::size_t length);
void append_bytes(std::string& out, int field, std::string_view bytes);
void append_int(std::string& out, int field, std::uint64_t value);
/// What such a field takes whose number is below 16.
std::size_t size_of_field(std::size_t length);

/// A tensor's bytes without its elements where these follow as they lie in memory, else whole.
struct EncodedTensor {
  std::string head;
  std::string_view content; ///< of the tensor
  Tensor tensor;            ///< keeps it
  std::size_t size() const { return head.size() + content.size(); }
};
/// Requires a value in host memory.
EncodedTensor encode(const Tensor& tensor);
/// Large elements are kept by the answer instead of copied. `field` is below 16.
void append_tensor(AnswerBytes& to, int field, const EncodedTensor& tensor);

/// RESOURCE_EXHAUSTED for more than a protobuf message holds.
Status check_size(std::size_t bytes);

} // namespace troupe::message_bytes
