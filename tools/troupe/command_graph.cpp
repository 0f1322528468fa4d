// troupe graph FILE: what is in a graph, and where its nodes would go.
#include <algorithm>
#include <map>
#include <set>

#include "core/base/json.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/graph_def.hpp"
#include "graph/ir/text.hpp"
#include "graph/placement/place.hpp"
#include "kernels/framework/op_library.hpp"
#include "net/cluster/node_config.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/graph_dot.hpp"
#include "tools/troupe/graph_file.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

Status add_devices(std::string_view job, int task, const char* type, int count,
                   std::vector<PlacementDevice>& out) {
  for (int i = 0; i < count; ++i) {
    TROUPE_ASSIGN(DeviceName name,
                  DeviceName::parse(str_cat(task_name(job, task), "/device:", type, ":", i)));
    out.push_back({std::move(name), type, out.size() + 1});
  }
  return {};
}

// "ps=1,worker=2"; otherwise a config file is named.
bool is_list_of_jobs(const std::string& text) {
  return text.find('=') != std::string::npos && text.find('/') == std::string::npos;
}

Result<std::vector<PlacementDevice>> devices_of_config(const std::string& path) {
  std::vector<PlacementDevice> out;
  TROUPE_ASSIGN(ClusterConfig config, read_cluster_config(path));
  for (const NodeConfig& task : config.tasks) {
    TROUPE_TRY(add_devices(task.job, task.task, "CPU", task.settings.cpu_devices, out));
    // -1: as many as its machine has, which is not known here
    TROUPE_TRY(add_devices(task.job, task.task, "GPU", task.settings.gpu_devices, out));
  }
  return out;
}

Result<std::vector<PlacementDevice>> devices_of_jobs(const std::string& text) {
  constexpr std::uint64_t most_tasks = 10000;
  std::vector<PlacementDevice> out;
  std::set<std::string_view> seen;
  for (std::string_view part : str_split(text, ',')) {
    std::size_t equals = part.find('=');
    std::string_view job = part.substr(0, equals);
    auto tasks =
        equals == std::string_view::npos ? std::nullopt : parse_uint(part.substr(equals + 1));
    bool is_good = tasks && *tasks >= 1 && *tasks <= most_tasks && seen.insert(job).second;
    for (std::uint64_t task = 0; is_good && task < *tasks; ++task)
      is_good = add_devices(job, static_cast<int>(task), "CPU", 1, out).ok();
    if (!is_good)
      return invalid_argument(str_cat("--place has '", part,
                                      "'; write each job once with its number of tasks, 1 to ",
                                      most_tasks, ", such as ps=1,worker=2, or a config file"));
  }
  return out;
}

class GraphCommand final : public Command {
public:
  std::string summary() const override { return "Shows a graph: ops, text, dot, placement"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe graph model.pb", "how many nodes of each op, and which ops this build lacks"},
            {"troupe graph --text model.pbtxt", "one line for each node"},
            {"troupe graph --dot model.pb | dot -Tsvg > model.svg", "a picture"},
            {"troupe graph --place ps=1,worker=2 saved_model/1",
             "where the nodes of a SavedModel would go"}};
  }
  void declare(Options& options) override {
    options.text("FILE", file_,
                 "GraphDef (binary or text), text form, .meta file or SavedModel folder", true);
    options.flag("--text", text_, "print the text form");
    options.flag("--dot", dot_, "print Graphviz's language");
    options.text("--place", place_, "place the nodes first: jobs (ps=1,worker=2) or a config file");
    options.text(
        "--master", master_,
        "the task that the session is opened at, such as /job:worker/task:1: with --place, "
        "it gets what asks for no task");
    options.flag("--json", json_, "print JSON");
  }

  int run() override {
    if (text_ + dot_ + json_ > 1)
      return called_wrongly("--text, --dot and --json are three forms of output; choose one");
    auto file = read_graph_file(file_);
    if (!file)
      return failed(file.status());
    if (!text_ && !dot_ && place_.empty()) {
      json_ ? print_json(*file) : print_counts(*file);
      return exit_ok;
    }
    auto graph = read_graph_bytes(file->bytes, op_library().ops,
                                  {.allow_internal_ops = true, .ignore_unknown_attrs = true});
    if (!graph)
      return failed(graph.status().with_context(file_));
    if (!place_.empty()) {
      auto devices = is_list_of_jobs(place_) ? devices_of_jobs(place_) : devices_of_config(place_);
      if (!devices)
        return is_list_of_jobs(place_) ? called_wrongly(devices.status().message())
                                       : failed_in_file(devices.status());
      if (auto master = master_task(*devices); master.ok())
        master_ = *master;
      else
        return called_wrongly(master.status().message());
      Status placed = place(*graph, {.devices = *std::move(devices),
                                     .own_task = master_,
                                     .supported_types = supported_types,
                                     .allow_soft_placement = true});
      if (!placed.ok())
        return failed(placed.with_context(file_));
    }
    if (dot_)
      print(to_dot(*graph));
    else if (text_)
      print(to_text(*graph, 8));
    else
      print_placement(*graph);
    return exit_ok;
  }

private:
  // The canonical name of the task that --master names; empty without one.
  Result<std::string> master_task(const std::vector<PlacementDevice>& devices) const {
    if (master_.empty())
      return std::string();
    auto name = DeviceName::parse(master_);
    if (name.ok() && name->job && name->task)
      for (const PlacementDevice& device : devices)
        if (name->matches(device.name))
          return device.name.task_part().to_string();
    return invalid_argument(str_cat("--master is '", master_,
                                    "', which is none of the tasks of --place; write it as "
                                    "/job:worker/task:1"));
  }

  static Result<std::vector<std::string>> supported_types(const Node& node) {
    auto types = op_library().kernels.device_types(node.op_name(), node.attrs);
    if (!types.empty())
      return types;
    auto kernel = op_library().kernels.find(node.op_name(), node.attrs, "CPU", node.name);
    return kernel ? Result<std::vector<std::string>>(std::vector<std::string>{"CPU"})
                  : kernel.status();
  }

  static bool is_known(const GraphFile& file, const std::string& op) {
    return op_library().ops.find(op) ||
           std::find(file.functions.begin(), file.functions.end(), op) != file.functions.end();
  }

  void print_counts(const GraphFile& file) const {
    print(str_cat(file_, ": ", file.kind, ", ", file.nodes, " nodes, ", file.ops.size(), " ops, ",
                  file.functions.size(), " functions, version ", file.producer, "\n"));
    std::vector<std::pair<std::string, std::int64_t>> ops(file.ops.begin(), file.ops.end());
    std::stable_sort(ops.begin(), ops.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::vector<std::string>> rows;
    for (const auto& [op, count] : ops)
      rows.push_back({str_cat(count), op, is_known(file, op) ? "" : "not in this build"});
    print(format_table(rows, "  "));
    for (const ModelSignature& signature : file.signatures)
      print(str_cat("signature ", signature, "\n"));
  }

  void print_json(const GraphFile& file) const {
    JsonWriter w;
    w.open('{')
        .key("file")
        .value(file_)
        .key("kind")
        .value(file.kind)
        .key("nodes")
        .value(file.nodes)
        .key("version")
        .value(file.producer);
    w.key("ops").open('[');
    for (const auto& [op, count] : file.ops)
      w.open('{')
          .key("op")
          .value(op)
          .key("nodes")
          .value(count)
          .key("known")
          .value(is_known(file, op))
          .close('}');
    w.close(']').key("functions").open('[');
    for (const std::string& function : file.functions)
      w.value(function);
    w.close(']').key("signatures").open('[');
    for (const ModelSignature& signature : file.signatures)
      w.value(signature.to_string());
    print(w.close(']').close('}').text() + "\n");
  }

  void print_placement(const Graph& graph) const {
    std::map<std::string, std::map<std::string, std::int64_t>> devices;
    for (const Node* node : graph.nodes())
      ++devices[node->assigned_device][node->op_name()];
    if (json_) {
      JsonWriter w;
      w.open('[');
      for (const Node* node : graph.nodes())
        w.open('{')
            .key("node")
            .value(node->name)
            .key("op")
            .value(node->op_name())
            .key("device")
            .value(node->assigned_device)
            .close('}');
      return print(w.close(']').text() + "\n");
    }
    for (const auto& [device, ops] : devices) {
      std::int64_t nodes = 0;
      std::vector<std::string> parts;
      for (const auto& [op, count] : ops) {
        nodes += count;
        parts.push_back(count == 1 ? op : str_cat(count, " ", op));
      }
      print(str_cat(device, ": ", nodes, nodes == 1 ? " node\n  " : " nodes\n  ",
                    str_join(parts, ", "), "\n"));
    }
  }

  std::string file_, place_, master_;
  bool text_ = false, dot_ = false, json_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_graph() {
  return std::make_unique<GraphCommand>();
}

} // namespace troupe
