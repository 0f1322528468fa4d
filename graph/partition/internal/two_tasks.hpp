#pragma once
#include <string>
#include <string_view>

/// What tests of partitioning share: two tasks with one device each.
namespace troupe::testing {

constexpr const char* a_device = "/job:a/replica:0/task:0/device:CPU:0";
constexpr const char* b_device = "/job:b/replica:0/task:0/device:CPU:0";

/// `text` with the task and the device for each `$`: "/job:a$" is `a_device`.
inline std::string expand(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c == '$')
      out += "/replica:0/task:0/device:CPU:0";
    else
      out += c;
  return out;
}

} // namespace troupe::testing
