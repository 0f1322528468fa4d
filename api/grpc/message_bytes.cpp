#include "api/grpc/message_bytes.hpp"

#include <memory>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "core/base/strings.hpp"
#include "graph/convert/tensor_proto.hpp"
#include "proto/tensor.pb.h"

namespace troupe::message_bytes {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace {

Status malformed(std::string_view what) {
  return invalid_argument(str_cat("the request is no ", what));
}

} // namespace

Status for_each_field(std::string_view bytes, std::string_view what,
                      const std::function<Status(const Field&)>& take) {
  if (bytes.size() > static_cast<std::size_t>(INT32_MAX))
    return malformed(what);
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                      static_cast<int>(bytes.size()));
  while (std::uint32_t tag = in.ReadTag()) {
    Field field;
    field.number = WireFormatLite::GetTagFieldNumber(tag);
    bool read = false;
    switch (WireFormatLite::GetTagWireType(tag)) {
    case WireFormatLite::WIRETYPE_VARINT:
      read = in.ReadVarint64(&field.number_value);
      break;
    case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
      std::uint32_t length = 0;
      if (in.ReadVarint32(&length) && length <= bytes.size()) {
        field.bytes = bytes.substr(static_cast<std::size_t>(in.CurrentPosition()), length);
        read = field.bytes.size() == length && in.Skip(static_cast<int>(length));
      }
      break;
    }
    default: // of a version that we do not know
      read = WireFormatLite::SkipField(&in, tag);
      break;
    }
    if (!read)
      return malformed(what);
    TROUPE_TRY(take(field));
  }
  if (!in.ConsumedEntireMessage())
    return malformed(what);
  return {};
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void append_length(std::string& out, int field, std::size_t length) {
  append_varint(out, WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  append_varint(out, length);
}

void append_bytes(std::string& out, int field, std::string_view bytes) {
  append_length(out, field, bytes.size());
  out.append(bytes);
}

void append_int(std::string& out, int field, std::uint64_t value) {
  append_varint(out, WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT));
  append_varint(out, value);
}

std::size_t size_of_field(std::size_t length) {
  return 1 + google::protobuf::io::CodedOutputStream::VarintSize64(length) + length;
}

EncodedTensor encode(const Tensor& tensor) {
  EncodedTensor out;
  if (is_object(tensor.dtype()) || tensor.num_elements() == 0) {
    out.head = tensor_to_bytes(tensor);
    return out;
  }
  tensorflow::TensorProto head;
  head.set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  for (std::int64_t size : tensor.shape().dims())
    head.mutable_tensor_shape()->add_dim()->set_size(size);
  head.mutable_tensor_shape(); // a scalar's is there, too
  head.SerializeToString(&out.head);
  const auto elements = tensor.bytes();
  out.content = {reinterpret_cast<const char*>(elements.data()), elements.size()};
  out.tensor = tensor;
  append_length(out.head, tensorflow::TensorProto::kTensorContentFieldNumber, out.content.size());
  return out;
}

void append_tensor(AnswerBytes& to, int field, const EncodedTensor& tensor) {
  constexpr std::size_t worth_lending = 64 << 10;
  std::string& out = to.end();
  append_length(out, field, tensor.size());
  out += tensor.head;
  if (tensor.content.size() < worth_lending)
    out.append(tensor.content);
  else
    to.lend(tensor.content, std::make_shared<const Tensor>(tensor.tensor));
}

Status check_size(std::size_t bytes) {
  constexpr std::size_t most_bytes = INT32_MAX; // of a protobuf message
  if (bytes <= most_bytes)
    return {};
  return resource_exhausted(str_cat("the answer takes ", bytes,
                                    " bytes, and a protobuf message holds ", most_bytes,
                                    "; fetch less in one step"));
}

} // namespace troupe::message_bytes
