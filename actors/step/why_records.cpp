#include "actors/step/internal/why_records.hpp"

#include <cctype>

#include "core/base/strings.hpp"
#include "kernels/framework/rendezvous.hpp"

namespace troupe {

namespace {

std::string strip(const std::string& key) {
  auto parsed = parse_rendezvous_key(key);
  return parsed.ok() ? WhyRecords::edge_id(parsed->edge, parsed->src_device, parsed->dst_device)
                     : key;
}

} // namespace

WhyRecords::WhyRecords(const std::vector<TaskRecord>& tasks) : tasks_(tasks) {
  for (const TaskRecord& task : tasks_) {
    task_[task.task] = &task;
    for (const DeviceRecord& device : task.devices)
      index(device);
    for (const EdgeRecord& edge : task.edges)
      if (edge.state == EdgeRecord::State::lies_here)
        lying_.insert(strip(edge.key));
  }
}

void WhyRecords::index(const DeviceRecord& device) {
  if (!device.device.empty())
    devices_[device.device] = &device;
  auto& names = nodes_[device.device];
  for (const NodeRecord& node : device.nodes) {
    names[node.node].push_back(&node);
    if (node.end == NodeRecord::End::send)
      sends_[edge_id(node.edge, device.device, node.peer)].push_back(&node);
  }
}

const TaskRecord* WhyRecords::task(const std::string& name) const {
  auto it = task_.find(name);
  return it == task_.end() ? nullptr : it->second;
}

const DeviceRecord* WhyRecords::device(const std::string& name) const {
  auto it = devices_.find(name);
  return it == devices_.end() ? nullptr : it->second;
}

const std::vector<const NodeRecord*>* WhyRecords::sends(const std::string& edge) const {
  auto it = sends_.find(edge);
  return it == sends_.end() ? nullptr : &it->second;
}

const NodeRecord* WhyRecords::find(const DeviceRecord& device, const std::string& name,
                                   const NodeRecord* like) const {
  auto names = nodes_.find(device.device);
  if (names == nodes_.end())
    return nullptr;
  auto it = names->second.find(name);
  if (it == names->second.end())
    return nullptr;
  for (const NodeRecord* node : it->second)
    if (like && node->frame == like->frame && node->iteration == like->iteration)
      return node;
  return it->second.front();
}

std::string WhyRecords::sent_name(const NodeRecord& receive, const std::string& here) const {
  auto it = sends_.find(edge_id(receive.edge, receive.peer, here));
  if (it != sends_.end())
    for (const std::string& input : it->second.front()->missing)
      if (!input.starts_with('^') && it->second.front()->skipped == 0)
        return input;
  return source_of_edge(receive.edge);
}

std::string WhyRecords::edge_id(std::string_view edge, std::string_view from, std::string_view to) {
  return str_cat(edge, ";", from, ";", to);
}

std::string WhyRecords::source_of_edge(const std::string& edge) {
  std::string_view rest = edge;
  if (!rest.starts_with("edge_"))
    return edge;
  rest.remove_prefix(5);
  std::size_t digits = 0;
  while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])))
    ++digits;
  if (digits == 0 || digits + 1 >= rest.size() || rest[digits] != '_')
    return edge;
  return std::string(rest.substr(digits + 1));
}

std::string WhyRecords::node_of(const std::string& input) {
  if (input.starts_with('^'))
    return input.substr(1);
  return input.substr(0, input.rfind(':'));
}

std::string WhyRecords::task_of(const std::string& device) {
  return device.substr(0, device.find("/device:"));
}

} // namespace troupe
