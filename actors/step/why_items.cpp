#include "actors/step/internal/why_items.hpp"

#include <algorithm>
#include <utility>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

using End = NodeRecord::End;
using State = NodeRecord::State;
using enum WhyRank;

std::string seconds(std::int64_t us) {
  std::int64_t ms = us / 1000;
  if (ms < 1000)
    return str_cat(ms, " ms");
  if (ms < 60'000)
    return str_cat(ms / 1000, ".", ms % 1000 / 100, " s");
  std::int64_t minutes = ms / 60'000;
  if (minutes < 60)
    return str_cat(minutes, " min ", ms / 1000 % 60, " s");
  return str_cat(minutes / 60, " h ", minutes % 60, " min");
}

std::string quoted(const NodeRecord& node) {
  return str_cat("'", node.node, "' (", node.op, ")");
}

std::string running_for(const NodeRecord& node) {
  std::string said = node.running_us < 0
                         ? " is running"
                         : str_cat(" has been running for ", seconds(node.running_us));
  if (!node.is_async)
    return said;
  return str_cat(said, ", asynchronously: it waits for ",
                 node.waits_for.empty() ? "something outside the graph" : node.waits_for);
}

void settle(WhyItem& item, std::string said, WhyRank rank, std::int64_t weight = 0) {
  item.said = std::move(said);
  item.rank = rank;
  item.weight = weight;
}

std::string words_of(const SilenceRecord& silence) {
  switch (silence.kind) {
  case SilenceRecord::Kind::busy:
    return "its graph manager is busy";
  case SilenceRecord::Kind::heard:
    return str_cat("last heard of ", silence.silent_us / 1000, " ms ago");
  case SilenceRecord::Kind::lost:
    return str_cat("not connected (lost: ", silence.loss, ")");
  case SilenceRecord::Kind::unreached:
    return "not dialled yet";
  case SilenceRecord::Kind::unknown:
    break;
  }
  return {};
}
} // namespace

int WhyItems::add(WhyItem item) {
  items_.push_back(std::move(item));
  return static_cast<int>(items_.size()) - 1;
}

int WhyItems::leaf(std::string subject, std::string said, WhyRank rank) {
  WhyItem item;
  item.subject = std::move(subject);
  item.said = std::move(said);
  item.rank = rank;
  item.state = WhyItem::done;
  item.best = static_cast<int>(items_.size()); // itself
  return add(std::move(item));
}

void WhyItems::describe(int id) {
  auto found = pending_.find(id);
  if (found == pending_.end())
    return;
  Place place = found->second;
  pending_.erase(found);
  WhyItem item = (*this)[id];
  if (item.is_edge)
    describe_edge(*place.device, *place.node, item);
  else
    describe_node(*place.device, *place.node, item);
  (*this)[id] = std::move(item);
}

// The value that an input stands for: of a receive, what the sender calls it.
std::string WhyItems::name_of_input(const DeviceRecord& device, const NodeRecord& node,
                                    const std::string& input) const {
  const NodeRecord* from = records_.find(device, WhyRecords::node_of(input), &node);
  if (from && from->end == End::receive)
    return str_cat("'", records_.sent_name(*from, device.device), "'");
  return str_cat("'", input, "'");
}

std::string WhyItems::waits_for(const DeviceRecord& device, const NodeRecord& node) const {
  if (node.missing.empty())
    return " waits for its inputs";
  std::vector<std::string> names;
  for (const std::string& input : node.missing)
    names.push_back(name_of_input(device, node, input));
  std::string out = " waits ";
  if (node.skipped > 0)
    str_append(out, "through ", node.skipped, " more nodes ");
  str_append(out, "for ", str_join(names, ", "));
  if (node.more_missing > 0)
    str_append(out, " and ", node.more_missing, " more");
  return out;
}

// What a node does, and what it waits for.
void WhyItems::describe_node(const DeviceRecord& device, const NodeRecord& node, WhyItem& item) {
  switch (node.state) {
  case State::running:
    item.said = running_for(node);
    item.rank = running;
    item.weight = node.running_us;
    break;
  case State::queued:
    item.said = node.frame == 0
                    ? " is ready, and waits for its turn on the device"
                    : str_cat(" is about to run in round ", node.iteration + 1, " of its loop");
    item.rank = queued;
    break;
  case State::waiting:
    item.said = waits_for(device, node);
    item.more = node.more_missing;
    std::size_t unlisted = 0;
    for (const std::string& input : node.missing)
      if (const NodeRecord* from = records_.find(device, WhyRecords::node_of(input), &node)) {
        int child = of_node(device, *from);
        if (std::find(item.children.begin(), item.children.end(), child) == item.children.end())
          item.children.push_back(child);
      } else {
        ++unlisted;
      }
    if (item.children.empty() && unlisted > 0)
      str_append(item.said, ", one of ", device.unfinished, " unfinished nodes there");
    break;
  }
}

int WhyItems::of_node(const DeviceRecord& device, const NodeRecord& node) {
  if (node.end == End::receive && node.state != State::waiting)
    return of_edge(device, node);
  auto known = by_node_.find(&node);
  if (known != by_node_.end())
    return known->second;
  WhyItem item;
  item.subject = quoted(node);
  item.where = " on " + device.device;
  int id = add(std::move(item));
  by_node_[&node] = id;
  pending_[id] = {&device, &node};
  return id;
}

// The value that a receive waits for.
int WhyItems::of_edge(const DeviceRecord& here, const NodeRecord& receive) {
  std::string edge = WhyRecords::edge_id(receive.edge, receive.peer, here.device);
  auto known = by_edge_.find(edge);
  if (known != by_edge_.end())
    return known->second;
  WhyItem item;
  item.is_edge = true;
  item.subject =
      str_cat("'", records_.sent_name(receive, here.device), "' from ", receive.peer, ":");
  int id = add(std::move(item));
  by_edge_[edge] = id;
  pending_[id] = {&here, &receive};
  return id;
}

std::string WhyItems::silence(const TaskRecord& task) {
  std::string words = words_of(task.silence);
  return words.empty() ? " does not answer" : str_cat(" does not answer (", words, ")");
}

std::string WhyItems::absence(const TaskRecord& task) {
  std::string words = words_of(task.silence);
  return str_cat(" does not run its part of the step: ",
                 words.empty() ? "its start or its fed values are on the way there, or its "
                                 "answer is on the way back"
                               : words);
}

void WhyItems::describe_edge(const DeviceRecord& here, const NodeRecord& receive, WhyItem& item) {
  std::string source = WhyRecords::source_of_edge(receive.edge);
  std::string edge = WhyRecords::edge_id(receive.edge, receive.peer, here.device);
  const std::string name = WhyRecords::task_of(receive.peer);
  const TaskRecord* there = records_.task(name);
  if (!there)
    return settle(item, str_cat(" task ", name, " has no part in the step"), unclear_task);
  if (!there->answered) {
    reported_.insert(there->task);
    return settle(item, str_cat(" ", there->task, silence(*there)), silent);
  }
  if (records_.lies(edge))
    return settle(item,
                  str_cat(" its op '", source, "' has run, its value waits there to be asked for"),
                  on_its_way);
  if (!there->has_ended && !there->has_begun) {
    reported_.insert(there->task);
    return settle(item, str_cat(" ", there->task, absence(*there)), unclear_task);
  }
  const DeviceRecord* sender = there->has_ended ? nullptr : records_.device(receive.peer);
  if (!sender)
    return describe_hidden(*there, source, item);
  if (!sender->answered)
    return describe_busy(*sender, source, item);
  const auto* sends = records_.sends(edge);
  if (!sends)
    return describe_unsent(*sender, source, item);
  const NodeRecord* send = sends->front();
  for (const NodeRecord* other : *sends)
    if (other->iteration == receive.iteration)
      send = other;
  describe_send(*sender, *send, source, item);
}

// The sender's device has told nothing: it has ended its part, or a device there is silent.
void WhyItems::describe_hidden(const TaskRecord& there, const std::string& source, WhyItem& item) {
  auto nameless = std::find_if(there.devices.begin(), there.devices.end(),
                               [](const DeviceRecord& d) { return !d.answered; });
  if (there.has_ended || nameless == there.devices.end())
    return settle(item, str_cat(" its op '", source, "' has run, its value is on the way"),
                  on_its_way);
  reported_.insert(nameless->device.empty() ? there.task : nameless->device);
  settle(item, " its device does not answer: a kernel holds its thread", running);
}

// A device that does not answer may have told the node that it runs.
void WhyItems::describe_busy(const DeviceRecord& sender, const std::string& source, WhyItem& item) {
  if (sender.nodes.empty()) {
    reported_.insert(sender.device);
    return settle(item, " its device does not answer: a kernel holds its thread", running);
  }
  const NodeRecord& node = sender.nodes.front();
  std::string who = node.node == source
                        ? str_cat(" its op ", quoted(node))
                        : str_cat(" its device is taken by ", quoted(node), ", which");
  told_.insert(&node);
  settle(item, who + running_for(node), running, node.running_us);
}

void WhyItems::describe_unsent(const DeviceRecord& sender, const std::string& source,
                               WhyItem& item) {
  if (const NodeRecord* op = records_.find(sender, source)) {
    item.said = str_cat(" its op ", quoted(*op));
    continue_with(sender, *op, item);
  } else if (sender.nodes.size() < sender.unfinished) {
    settle(item,
           str_cat(" its op '", source, "' is not among the ", sender.nodes.size(),
                   " nodes listed of ", sender.unfinished, " unfinished ones there"),
           WhyRank::unknown);
  } else {
    settle(item, str_cat(" its op '", source, "' has run, its value is on the way"), on_its_way);
  }
}

void WhyItems::describe_send(const DeviceRecord& sender, const NodeRecord& send,
                             const std::string& source, WhyItem& item) {
  if (send.state != State::waiting)
    return settle(item, str_cat(" its op '", source, "' has run, its value is about to be sent"),
                  queued);
  for (const std::string& input : send.missing)
    if (const NodeRecord* op = records_.find(sender, WhyRecords::node_of(input), &send);
        op && !input.starts_with('^')) {
      if (op->end == End::receive && op->state != State::waiting) {
        item.said = " it has not come there itself";
        item.children.push_back(of_edge(sender, *op));
        return;
      }
      item.said = str_cat(" its op ", quoted(*op));
      return continue_with(sender, *op, item);
    }
  item.said = str_cat(" its op '", source, "'", waits_for(sender, send));
  for (const std::string& input : send.missing)
    if (const NodeRecord* op = records_.find(sender, WhyRecords::node_of(input), &send))
      item.children.push_back(of_node(sender, *op));
}

// The line goes on with what the node does.
void WhyItems::continue_with(const DeviceRecord& device, const NodeRecord& node, WhyItem& item) {
  told_.insert(&node);
  WhyItem inner;
  describe_node(device, node, inner);
  item.said += inner.said;
  item.children = std::move(inner.children);
  item.more = inner.more;
  item.rank = inner.rank;
  item.weight = inner.weight;
}

} // namespace troupe
