#include "storage/debug_dump/debug_dump.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "storage/checksum/crc32c.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/files/file_system.hpp"
#include "storage/message/message.hpp"

namespace troupe {

namespace {

constexpr int most_of_one_time = 10'000; // files of one value in one microsecond

// A file beside those that are there: their names end in the time, then in a number.
Status write(AllowedFiles& files, const std::string& path, std::int64_t now_us,
             std::string_view bytes) {
  TROUPE_TRY(files.make_folders(folder_of_path(path)));
  for (int i = 0; i < most_of_one_time; ++i) {
    auto file =
        files.create(i == 0 ? str_cat(path, "_", now_us) : str_cat(path, "_", now_us, "-", i));
    if (!file.ok() && file.status().code() == Code::already_exists)
      continue;
    TROUPE_TRY(file.status());
    return (*file)->append(std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
  return resource_exhausted(
      str_cat("there are ", most_of_one_time, " dumps of ", path, " of one microsecond"));
}

MessageWriter event(std::int64_t now_us) {
  MessageWriter out;
  out.real(1, static_cast<double>(now_us));
  return out;
}

// A TensorProto.
MessageWriter tensor_message(const Tensor& value, DType dtype) {
  MessageWriter out, shape;
  out.integer(1, static_cast<std::uint64_t>(value.has_value() ? value.dtype() : dtype));
  if (value.has_value())
    for (std::int64_t dim : value.shape().dims())
      shape.message(2, MessageWriter().signed_integer(1, dim));
  out.message(2, shape);
  if (!value.has_value())
    return out;
  if (value.dtype() == DType::string) {
    for (const std::string& text : value.data<std::string>())
      out.bytes(8, text);
  } else if (!is_object(value.dtype())) {
    const auto bytes = value.bytes();
    out.bytes(4, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return out;
}

std::string device_folder(std::string_view device) {
  std::string out = "_tfdbg_device_";
  for (char c : device)
    out += c == '/' ? ',' : c == ':' ? '_' : c;
  return out;
}

// A JSON string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names)
    out.push_back(quoted(name));
  return str_cat("[", str_join(out, ","), "]");
}

} // namespace

Result<std::string> dump_folder_of(std::string_view url) {
  constexpr std::string_view scheme = "file://";
  std::string lower(url.substr(0, scheme.size()));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == scheme && url.size() > scheme.size())
    return std::string(url.substr(scheme.size()));
  return unimplemented(str_cat("a debugger's values cannot go to '", url,
                               "'; name a folder of the task that runs the node, such as "
                               "file:///tmp/dump"));
}

Status dump_tensor(AllowedFiles& files, const std::string& root, const DumpedTensor& what,
                   const Tensor& value, DType dtype, std::int64_t now_us) {
  MessageWriter plugin;
  plugin.bytes(1, "debugger");
  plugin.bytes(2, str_cat("{\"device\":", quoted(what.device), ",\"outputSlot\":", what.slot,
                          ",\"numChunks\":1,\"chunkIndex\":0}"));
  MessageWriter one;
  one.bytes(1, what.node);
  one.bytes(7, str_cat(what.node, ":", what.slot, ":", what.op));
  one.message(8, tensor_message(value, dtype));
  one.message(9, MessageWriter().message(1, plugin));
  MessageWriter out = event(now_us);
  out.message(5, MessageWriter().message(1, one));
  return write(
      files,
      str_cat(root, "/", device_folder(what.device), "/", what.node, "_", what.slot, "_", what.op),
      now_us, out.text());
}

Status dump_graph(AllowedFiles& files, const std::string& root, const std::string& device,
                  std::string_view graph_def, std::int64_t now_us) {
  MessageWriter out = event(now_us);
  out.bytes(4, graph_def);
  const std::uint32_t sum = crc32c(graph_def);
  return write(files, str_cat(root, "/", device_folder(device), "/_tfdbg_graph_hash", sum), now_us,
               out.text());
}

Status dump_run(AllowedFiles& files, const std::string& root, const DumpedRun& run,
                std::int64_t now_us) {
  MessageWriter log;
  log.bytes(2,
            str_cat("{\"global_step\":", run.global_step, ",\"session_run_index\":", run.of_session,
                    ",\"executor_step_index\":", run.of_signature, ",\"input_names\":",
                    quoted_list(run.feeds), ",\"output_names\":", quoted_list(run.fetches),
                    ",\"target_nodes\":", quoted_list(run.targets), "}"));
  MessageWriter out = event(now_us);
  out.message(6, log);
  std::string number = std::to_string(run.of_session);
  number.insert(0, number.size() < 14 ? 14 - number.size() : 0, '0');
  return write(files, str_cat(root, "/_tfdbg_core_metadata_sessionrun", number), now_us,
               out.text());
}

} // namespace troupe
