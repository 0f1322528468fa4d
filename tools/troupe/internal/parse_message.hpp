// Protobuf messages from files that people name: binary or text.
#pragma once

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// Protobuf's own bound on binary messages; its text parser has none and would run out of stack.
inline constexpr int deepest_message = 100;

inline bool looks_like_text(std::string_view bytes) {
  return std::all_of(
      bytes.begin(),
      bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size(), 512)),
      [](char c) {
        return static_cast<unsigned char>(c) >= 32 || c == '\n' || c == '\t' || c == '\r';
      });
}

class QuietErrors final : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (first_.empty())
      first_ = str_cat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  const std::string& first() const { return first_; }

private:
  std::string first_;
};

/// Binary or text, which is seen from the bytes. INVALID_ARGUMENT "is no WHAT".
template <class Message>
Status parse_message(const std::string& bytes, std::string_view what, Message& out) {
  if (!looks_like_text(bytes))
    return out.ParseFromString(bytes) ? Status{} : invalid_argument(str_cat("is no ", what));
  QuietErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(deepest_message);
  if (parser.ParseFromString(bytes, &out))
    return {};
  return invalid_argument(str_cat("is no ", what, " in text: ", errors.first()));
}

} // namespace troupe
