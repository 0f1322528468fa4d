#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"

namespace troupe {

namespace {

constexpr int max_nesting = 100;

// Keeps the first error; lines and columns count from 1.
class FirstError : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (text.empty())
      text =
          line < 0 ? message : str_cat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
  std::string text;
};

bool is_too_long(std::string_view bytes) {
  return bytes.size() > 0x7fffffffu;
}

} // namespace

Status parse_bytes(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (is_too_long(bytes))
    return invalid_argument(str_cat("a message of ", bytes.size(), " bytes is too long for a ",
                                    message.GetTypeName(), "; at most 2147483647 are possible"));
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(max_nesting);
  google::protobuf::LogSilencer quiet; // what peers send does not write to our stderr
  if (!message.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage())
    return invalid_argument(
        str_cat("these ", bytes.size(), " bytes are not a binary ", message.GetTypeName(),
                ": they are cut off, damaged, or nested more than ", max_nesting, " deep"));
  return {};
}

Status parse_text(std::string_view text, google::protobuf::Message& message) {
  if (is_too_long(text))
    return invalid_argument(str_cat("a text of ", text.size(), " bytes is too long"));
  google::protobuf::io::ArrayInputStream in(text.data(), static_cast<int>(text.size()));
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(max_nesting);
  if (!parser.Parse(&in, &message))
    return invalid_argument(str_cat("this is not the text of a ", message.GetTypeName(), ": ",
                                    error.text.empty() ? "it cannot be read" : error.text));
  return {};
}

std::string to_bytes(const google::protobuf::MessageLite& message) {
  std::string out;
  out.reserve(message.ByteSizeLong()); // before the streams, which keep a pointer into it
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    TROUPE_CHECK(message.SerializePartialToCodedStream(&coded), "a message of ours is serialised");
  }
  return out;
}

} // namespace troupe
