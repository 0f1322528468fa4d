// tensorflow.Example messages, their features and lists of them, for tests; and tensors of them as
// literals.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/literal.hpp"
#include "storage/message/message.hpp"

namespace troupe::testing {

using Named = std::initializer_list<std::pair<std::string, std::string>>;

inline std::string bytes_feature(const std::vector<std::string>& values) {
  MessageWriter list;
  for (const std::string& value : values)
    list.bytes(1, value);
  return MessageWriter().message(1, list).take();
}

inline std::string float_feature(const std::vector<float>& values) {
  MessageWriter list;
  if (!values.empty())
    list.bytes(1, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  return MessageWriter().message(2, list).take();
}

inline std::string int_feature(const std::vector<std::int64_t>& values) {
  MessageWriter packed, list;
  for (const std::int64_t value : values)
    packed.varint(static_cast<std::uint64_t>(value));
  if (!values.empty())
    list.message(1, packed);
  return MessageWriter().message(3, list).take();
}

/// A map from names to messages.
inline MessageWriter map_of(Named entries) {
  MessageWriter out;
  for (const auto& [name, message] : entries)
    out.message(1, MessageWriter().bytes(1, name).bytes(2, message));
  return out;
}

inline std::string example(Named features) {
  return MessageWriter().message(1, map_of(features)).take();
}

inline std::string feature_list(const std::vector<std::string>& features) {
  MessageWriter out;
  for (const std::string& feature : features)
    out.bytes(1, feature);
  return out.take();
}

inline std::string sequence_example(Named context, Named lists) {
  return MessageWriter().message(1, map_of(context)).message(2, map_of(lists)).take();
}

/// The literal of a vector of texts.
inline std::string texts(const std::vector<std::string>& values) {
  return to_literal(Tensor::vector<std::string>(std::span<const std::string>(values)));
}
inline std::string text(const std::string& value) {
  return to_literal(Tensor::scalar(value));
}

} // namespace troupe::testing
