#include "tools/troupe/command.hpp"

#include <cstdio>

#include "core/base/strings.hpp"

namespace troupe {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int failed(const Status& status) {
  const std::string& message = status.message();
  // "FILE:LINE: …", one or many
  std::size_t colon = message.find(':');
  bool has_place = colon != std::string::npos && colon + 1 < message.size() &&
                   message[colon + 1] >= '0' && message[colon + 1] <= '9';
  std::string text = has_place && status.code() == Code::invalid_argument
                         ? message
                         : str_cat("troupe: ", status.to_string());
  std::fprintf(stderr, "%s\n", text.c_str());
  return exit_failed;
}

int called_wrongly(std::string_view sentence) {
  std::fprintf(stderr, "troupe: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  return exit_called_wrongly;
}

} // namespace troupe
