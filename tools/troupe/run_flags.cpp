#include "tools/troupe/run_flags.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

Status write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? Status{} : unavailable(str_cat(path, ": cannot be written: ", std::strerror(errno)));
}

DebugWatch watch_of(const std::string& tensor, const std::string& folder) {
  const std::size_t colon = tensor.rfind(':');
  DebugWatch out;
  out.node = tensor.substr(0, colon);
  if (tensor == "*")
    out.slot = -1;
  else if (colon != tensor.npos)
    out.slot = static_cast<int>(parse_int(tensor.substr(colon + 1)).value_or(0));
  out.ops = {"DebugIdentity"};
  out.urls = {str_cat("file://", folder)};
  return out;
}

} // namespace

void RunFlags::declare(Options& options) {
  options.flag("--isolate", isolate, "variables of the session's own, which end with it");
  options.flag("--log-placement", log_placement, "the master logs which device each node is on");
  options.flag("--bfloat16", bfloat16, "floats travel between tasks as bfloat16, half as large");
  options.flag("--schedule-receives", schedule_receives,
               "values of other tasks are received shortly before they are needed");
  options.flag("--report-allocations", report_allocations,
               "a step that runs out of memory says which nodes' values it holds");
  options.texts(
      "--watch", watches,
      "a tensor whose values are written below --dump, for tfdbg; '*' is all; may be given "
      "again");
  options.text("--dump", dump, "the folder for --watch, on the tasks that run the nodes");
  options.text("--costs", costs, "a file for what each node of the last step took");
  options.text("--partitions", partitions,
               "a folder for the graphs that the tasks ran in the last step, as GraphDefs");
}

std::string RunFlags::find_mistake() const {
  if (watches.empty() != dump.empty())
    return "--watch names what to write, and --dump where to: give both or none";
  if (!dump.empty() && dump[0] != '/')
    return str_cat("--dump '", dump,
                   "' is no absolute path; the tasks have working folders of their own");
  return {};
}

void RunFlags::apply(SessionOptions& options, int steps) const {
  options.isolate_session_state = isolate;
  options.log_device_placement = log_placement;
  options.bfloat16_sendrecv = bfloat16;
  options.recv_scheduling = schedule_receives;
  if (!costs.empty())
    options.cost_model_every = steps;
}

void RunFlags::apply(RunOptions& options, bool is_last) const {
  options.report_allocations_upon_oom = report_allocations;
  for (const std::string& tensor : watches)
    options.debug.watches.push_back(watch_of(tensor, dump));
  options.output_partition_graphs = is_last && !partitions.empty();
}

Status RunFlags::write(const RunMetadata& metadata) const {
  if (!costs.empty())
    TROUPE_TRY(write_file(costs, format_costs(metadata.cost_graph)));
  if (partitions.empty())
    return {};
  std::error_code error;
  std::filesystem::create_directories(partitions, error);
  if (error)
    return unavailable(str_cat(partitions, ": cannot be created: ", error.message()));
  for (std::size_t i = 0; i < metadata.partition_graphs.size(); ++i)
    TROUPE_TRY(write_file(str_cat(partitions, "/", i, ".pb"), metadata.partition_graphs[i]));
  return {};
}

std::string format_costs(std::vector<CostNode> nodes) {
  std::ranges::stable_sort(nodes, std::greater{}, &CostNode::compute_us);
  std::string out = "us\tbytes\tdevice\tnode\n";
  for (const CostNode& node : nodes) {
    std::int64_t bytes = 0;
    for (const CostNode::Output& output : node.outputs)
      bytes += std::max<std::int64_t>(output.bytes, 0);
    str_append(out, node.compute_us, "\t", bytes, "\t", node.device, "\t", node.name, "\n");
  }
  return out;
}

} // namespace troupe
