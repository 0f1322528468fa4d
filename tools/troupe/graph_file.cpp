#include "tools/troupe/graph_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "kernels/framework/op_library.hpp"
#include "proto/graph.pb.h"
#include "proto/saved_model.pb.h"
#include "tools/troupe/internal/parse_message.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

// To its end, so that a pipe is read as well as a file.
Result<std::string> read_file(const fs::path& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) {
    int error = errno;
    std::string why = str_cat(path.string(), ": cannot be opened: ", std::strerror(error));
    return error == EACCES ? permission_denied(why) : not_found(why);
  }
  constexpr std::size_t most = std::size_t{1} << 31, piece = std::size_t{1} << 20;
  std::string bytes;
  std::error_code unknown; // of a pipe
  if (auto size = fs::file_size(path, unknown); !unknown && size < most)
    bytes.reserve(size + 1);
  for (std::size_t got = 1; got > 0;) {
    std::size_t old = bytes.size();
    bytes.resize(std::max(old + 1, std::min(bytes.capacity(), old + piece)));
    got = std::fread(bytes.data() + old, 1, bytes.size() - old, file.get());
    bytes.resize(old + got);
    if (bytes.size() >= most)
      return resource_exhausted(
          str_cat(path.string(), ": has 2 GiB or more, which do not fit a GraphDef"));
  }
  if (std::ferror(file.get()))
    return unavailable(str_cat(path.string(), ": cannot be read: ", std::strerror(errno)));
  if (str_trim(bytes).empty())
    return invalid_argument(str_cat(path.string(), ": the file is empty"));
  return bytes;
}

// The text form begins with `name = Op`; protobuf's with `field {` or `field:`.
bool looks_like_text_form(std::string_view bytes) {
  for (std::string_view line : str_split(bytes.substr(0, 65536), '\n')) {
    line = str_trim(line);
    if (line.empty() || line[0] == '#')
      continue;
    std::size_t name = 0;
    while (name < line.size() && line[name] > ' ' && line[name] < 127 &&
           std::string_view("={}:\"").find(line[name]) == std::string_view::npos)
      ++name;
    std::string_view rest = str_trim(line.substr(name));
    return name > 0 && rest.starts_with('=');
  }
  return false;
}

void count(const tensorflow::GraphDef& graph, GraphFile& out) {
  out.nodes = graph.node_size();
  out.producer = graph.versions().producer();
  for (const auto& node : graph.node())
    ++out.ops[node.op()];
  for (const auto& function : graph.library().function())
    out.functions.push_back(function.signature().name());
}

std::vector<std::pair<std::string, std::string>>
tensors_of(const google::protobuf::Map<std::string, tensorflow::TensorInfo>& infos) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, info] : infos)
    out.emplace_back(name, info.name());
  std::sort(out.begin(), out.end());
  return out;
}

void take_meta_graph(const tensorflow::MetaGraphDef& meta, GraphFile& out) {
  count(meta.graph_def(), out);
  out.bytes = meta.graph_def().SerializeAsString();
  for (const auto& [name, signature] : meta.signature_def())
    out.signatures.push_back(
        {name, tensors_of(signature.inputs()), tensors_of(signature.outputs())});
  std::sort(out.signatures.begin(), out.signatures.end(),
            [](const ModelSignature& a, const ModelSignature& b) { return a.name < b.name; });
}

Result<GraphFile> read_saved_model(const fs::path& file) {
  TROUPE_ASSIGN(std::string bytes, read_file(file));
  tensorflow::SavedModel model;
  Status parsed = parse_message(bytes, "SavedModel", model);
  if (parsed.ok() && model.meta_graphs_size() == 0)
    parsed = invalid_argument("has no graph");
  if (!parsed.ok())
    return parsed.with_context(file.string());
  // The graph for serving, or the first.
  const tensorflow::MetaGraphDef* chosen = &model.meta_graphs(0);
  for (const auto& meta : model.meta_graphs())
    if (const auto& tags = meta.meta_info_def().tags();
        std::find(tags.begin(), tags.end(), "serve") != tags.end())
      chosen = &meta;
  GraphFile out;
  out.kind = str_cat("SavedModel, tags ", str_join(chosen->meta_info_def().tags(), " "));
  std::error_code error;
  out.has_saved_variables = fs::exists(file.parent_path() / "variables" / "variables.index", error);
  take_meta_graph(*chosen, out);
  return out;
}

Result<GraphFile> read_plain(const fs::path& path) {
  GraphFile out;
  TROUPE_ASSIGN(out.bytes, read_file(path));
  out.kind = "GraphDef";
  if (path.extension() == ".meta") {
    tensorflow::MetaGraphDef meta;
    TROUPE_TRY(parse_message(out.bytes, "MetaGraphDef", meta).with_context(path.string()));
    out.kind = "MetaGraphDef";
    take_meta_graph(meta, out);
    return out;
  }
  if (looks_like_text_form(out.bytes)) {
    auto graph = parse_graph(out.bytes, op_library().ops);
    if (!graph)
      return graph.status().with_context(path.string());
    out.kind = "text form";
    out.bytes = export_graph(*graph);
  }
  tensorflow::GraphDef graph;
  Status parsed = parse_message(out.bytes, "GraphDef", graph);
  if (!parsed.ok())
    return parsed.with_context(path.string());
  count(graph, out);
  return out;
}

} // namespace

std::string ModelSignature::to_string() const {
  auto list = [](const std::vector<std::pair<std::string, std::string>>& tensors) {
    std::vector<std::string> parts;
    for (const auto& [name, tensor] : tensors)
      parts.push_back(str_cat(name, " = ", tensor));
    return str_join(parts, ", ");
  };
  return str_cat(name, "(", list(inputs), ") -> ", list(outputs));
}

Result<GraphFile> read_graph_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return fs::path(path).filename() == "saved_model.pb" ? read_saved_model(path)
                                                         : read_plain(path);
  for (const char* name : {"saved_model.pb", "saved_model.pbtxt"})
    if (fs::exists(fs::path(path) / name, error))
      return read_saved_model(fs::path(path) / name);
  // Models lie in folders named after their versions.
  for (const auto& entry : fs::directory_iterator(path, error))
    if (fs::exists(entry.path() / "saved_model.pb", error))
      return not_found(str_cat(path, ": the folder has no saved_model.pb; did you mean ",
                               entry.path().string(), "?"));
  return not_found(str_cat(
      path, ": the folder has no saved_model.pb; name the folder of a SavedModel or a file"));
}

} // namespace troupe
