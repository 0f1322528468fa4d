#include "core/base/device_name.hpp"

#include "core/base/strings.hpp"

namespace troupe {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// A letter, then letters, digits, '_' and '-'; or "*", which leaves `out` empty.
bool read_word(std::string_view& text, std::optional<std::string>& out) {
  out.reset();
  if (skip(text, "*"))
    return true;
  std::size_t n = 0;
  while (n < text.size() &&
         (is_letter(text[n]) || text[n] == '_' || (n > 0 && (is_digit(text[n]) || text[n] == '-'))))
    ++n;
  if (n == 0)
    return false;
  out = std::string(text.substr(0, n));
  text.remove_prefix(n);
  return true;
}

bool read_number(std::string_view& text, std::optional<int>& out) {
  out.reset();
  if (skip(text, "*"))
    return true;
  int value = 0;
  if (text.empty() || !is_digit(text[0]))
    return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{})
    return false;
  out = value;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

void to_upper(std::optional<std::string>& text) {
  if (text)
    for (char& c : *text)
      if (c >= 'a' && c <= 'z')
        c = static_cast<char>(c - 'a' + 'A');
}

/// One part, from its slash on.
bool read_part(std::string_view& text, DeviceName& out) {
  if (skip(text, "/job:"))
    return read_word(text, out.job);
  if (skip(text, "/replica:"))
    return read_number(text, out.replica);
  if (skip(text, "/task:"))
    return read_number(text, out.task);
  if (skip(text, "/device:")) {
    if (!read_word(text, out.type))
      return false;
    to_upper(out.type);
    out.id.reset();
    return !skip(text, ":") || read_number(text, out.id);
  }
  for (const char* type : {"CPU", "GPU"}) {
    std::string_view rest = text;
    std::string lower = type == std::string_view("CPU") ? "/cpu:" : "/gpu:";
    if (skip(rest, lower) || skip(rest, str_cat("/", type, ":"))) {
      text = rest;
      out.type = type;
      return read_number(text, out.id);
    }
  }
  return false;
}

template <class T>
bool agree(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}

template <class T>
bool covers(const std::optional<T>& wanted, const std::optional<T>& full) {
  return !wanted || wanted == full;
}

} // namespace

Result<DeviceName> DeviceName::parse(std::string_view text) {
  DeviceName out;
  std::string_view rest = text;
  if (rest == "/")
    return out;
  while (!rest.empty())
    if (!read_part(rest, out) || (!rest.empty() && rest[0] != '/'))
      return invalid_argument(str_cat("Malformed device specification '", text, "'"));
  return out;
}

bool DeviceName::matches(const DeviceName& full) const {
  return covers(job, full.job) && covers(replica, full.replica) && covers(task, full.task) &&
         covers(type, full.type) && covers(id, full.id);
}

bool DeviceName::is_compatible_with(const DeviceName& other) const {
  return agree(job, other.job) && agree(replica, other.replica) && agree(task, other.task) &&
         agree(type, other.type) && agree(id, other.id);
}

std::optional<DeviceName> DeviceName::merge(const DeviceName& other) const {
  if (!is_compatible_with(other))
    return std::nullopt;
  DeviceName out = *this;
  if (!out.job)
    out.job = other.job;
  if (!out.replica)
    out.replica = other.replica;
  if (!out.task)
    out.task = other.task;
  if (!out.type)
    out.type = other.type;
  if (!out.id)
    out.id = other.id;
  return out;
}

DeviceName DeviceName::task_part() const {
  DeviceName out;
  out.job = job;
  out.replica = replica;
  out.task = task;
  return out;
}

std::string DeviceName::to_string() const {
  std::string out;
  if (job)
    str_append(out, "/job:", *job);
  if (replica)
    str_append(out, "/replica:", *replica);
  if (task)
    str_append(out, "/task:", *task);
  if (type || id) {
    str_append(out, "/device:", type ? std::string_view(*type) : "*", ":");
    if (id)
      str_append(out, *id);
    else
      out += '*';
  }
  return out;
}

std::string task_of_device(std::string_view full_name) {
  auto name = DeviceName::parse(full_name);
  if (!name.ok() || !name->has_task_part())
    return std::string(full_name);
  return name->task_part().to_string();
}

std::string task_name(std::string_view job, int task, int replica) {
  return str_cat("/job:", job, "/replica:", replica, "/task:", task);
}

} // namespace troupe
