#include "net/data/tensor_path.hpp"

#include <cstdio>

#include "core/base/strings.hpp"
#include "net/ucx/ucx_worker.hpp"

namespace troupe {

namespace {

constexpr std::pair<PathChoice, std::string_view> choices[] = {
    {PathChoice::best, "auto"},
    {PathChoice::messages, "messages"},
    {PathChoice::shared_memory, "shared-memory"},
    {PathChoice::stream, "stream"},
    {PathChoice::ucx, "ucx"}};

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Why `path` cannot be; empty when it can.
std::string obstacle(TensorPath path, const PathEnd& receiver, const PathEnd& sender) {
  switch (path) {
  case TensorPath::messages:
    return "";
  case TensorPath::shared_memory:
    if (receiver.host.empty() || sender.host.empty())
      return "one of them cannot tell on which host it runs";
    if (receiver.host != sender.host)
      return "they run on different hosts";
    if (!sender.has_local_socket)
      return str_cat(sender.task, " has no Unix socket");
    return "";
  case TensorPath::stream:
    return sender.has_port ? "" : str_cat(sender.task, " does not listen for streams");
  case TensorPath::ucx:
    for (const PathEnd* end : {&sender, &receiver})
      if (end->ucx == UcxSupport::none)
        return str_cat(end->task, " has no UCX; install it there (Debian: libucx0)");
    // On its stream both agree on what is read.
    return sender.has_port ? "" : str_cat(sender.task, " does not listen for streams");
  }
  return "";
}

TensorPath path_of(PathChoice choice) {
  switch (choice) {
  case PathChoice::shared_memory:
    return TensorPath::shared_memory;
  case PathChoice::stream:
    return TensorPath::stream;
  case PathChoice::ucx:
    return TensorPath::ucx;
  default:
    return TensorPath::messages;
  }
}

} // namespace

std::string_view to_string(TensorPath path) {
  switch (path) {
  case TensorPath::messages:
    return "messages";
  case TensorPath::shared_memory:
    return "shared-memory";
  case TensorPath::stream:
    return "stream";
  case TensorPath::ucx:
    return "ucx";
  }
  return "?";
}

std::string_view to_string(PathChoice choice) {
  for (auto [known, name] : choices)
    if (known == choice)
      return name;
  return "?";
}

std::optional<PathChoice> parse_path_choice(std::string_view text) {
  for (auto [choice, name] : choices)
    if (name == text)
      return choice;
  return std::nullopt;
}

Result<std::vector<TensorPath>> paths_to_try(const PathEnd& receiver, const PathEnd& sender) {
  bool with_client = receiver.task == "client" || sender.task == "client";
  std::vector<TensorPath> out;
  const PathEnd* named = nullptr;
  for (const PathEnd* end : {&receiver, &sender}) {
    if (end->choice == PathChoice::best)
      continue;
    if (named && named->choice != end->choice)
      return failed_precondition(str_cat("tensor-path is \"", to_string(named->choice), "\" for ",
                                         named->task, " and \"", to_string(end->choice), "\" for ",
                                         end->task, "; give both the same, or \"auto\""));
    named = end;
  }
  if (named) {
    TensorPath path = path_of(named->choice);
    std::string why = obstacle(path, receiver, sender);
    if (why.empty())
      out.push_back(path);
    else if (!with_client)
      return failed_precondition(str_cat("tensor-path \"", to_string(path), "\" is not to be had ",
                                         "from ", sender.task, " to ", receiver.task, ": ", why,
                                         "; write tensor-path = \"auto\" or another path"));
    if (!with_client || path == TensorPath::messages)
      return out;
  }
  const bool has_rdma = receiver.ucx == UcxSupport::rdma && sender.ucx == UcxSupport::rdma;
  for (TensorPath path :
       {TensorPath::shared_memory, TensorPath::ucx, TensorPath::stream, TensorPath::messages}) {
    if (path == TensorPath::ucx && !has_rdma)
      continue; // over TCP it is no faster than a stream
    if (obstacle(path, receiver, sender).empty() && (out.empty() || out.front() != path))
      out.push_back(path);
  }
  return out;
}

UcxSupport ucx_support(PathChoice choice) {
  const bool has_device = has_rdma_device();
  const bool is_wanted = choice == PathChoice::ucx || (choice == PathChoice::best && has_device);
  if (!is_wanted || !ucx_is_there().ok())
    return UcxSupport::none;
  return has_device ? UcxSupport::rdma : UcxSupport::library;
}

std::string boot_id() {
  std::string out;
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    char text[64] = {};
    if (std::fgets(text, sizeof text, file))
      out = str_trim(text);
    std::fclose(file);
  }
  return out;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::pair<const char*, int> units[] = {{" GiB", 30}, {" MiB", 20}, {" KiB", 10}};
  for (auto [unit, shift] : units)
    if (bytes >> shift)
      return fixed(static_cast<double>(bytes) / static_cast<double>(1ULL << shift), 1) + unit;
  return str_cat(bytes, " bytes");
}

std::string format_rate(std::uint64_t bytes, std::int64_t micros) {
  if (micros <= 0)
    return "";
  return fixed(static_cast<double>(bytes) / static_cast<double>(micros) / 1e3, 2) + " GB/s";
}

std::string to_string(const Transfer& t) {
  std::string out = str_cat(to_string(t.path), ", ", format_bytes(t.bytes));
  if (t.is_shown)
    out += ", read where it lies";
  else if (t.micros > 0)
    out += str_cat(" in ", t.micros, " us, ", format_rate(t.bytes, t.micros));
  else if (t.path == TensorPath::shared_memory)
    out += ", computed there";
  return out;
}

} // namespace troupe
