// What a running step tells to whoever asks why it does not go on: what runs, what is queued, and
// for each end of the graph that has not been reached the way back to what holds it up.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "actors/executor/internal/step_state.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/wait_note.hpp"

namespace troupe {

namespace program {
namespace {

using State = NodeRecord::State;

/// Nodes and edges looked at, at most: a millisecond or two.
constexpr std::size_t max_looks = 500'000;
/// Inputs of one node that are named, and followed.
constexpr std::size_t max_missing = 4;
/// A chain of waiting nodes that is longer is told by its two ends.
constexpr std::size_t max_chain = 4;

struct Place {
  std::int32_t node = -1;
  const Iteration* iteration = nullptr;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& p) const {
    return std::hash<const void*>()(p.iteration) * 31 + static_cast<std::size_t>(p.node);
  }
};

/// An input that has not arrived.
struct Missing {
  Place from;
  std::int32_t slot = 0; ///< -1: control
};

// Looks at counts alone: kernels on other threads may be writing the slots.
class Recorder {
public:
  Recorder(const StepState& state, std::size_t limit)
      : s_(state), p_(state.program), limit_(limit), now_us_(steady_micros()) {}

  DeviceRecord run() {
    out_.device = p_.device->name();
    out_.answered = true;
    for (const PendingKernel* k = s_.kernels.first(); k; k = k->next)
      started(k->node, *k->iteration, State::running, k);
    if (s_.crew)
      s_.crew->for_each_out(
          [this](std::int32_t n) { started(n, *s_.frames.root, State::running); });
    if (s_.failed) // the rest will never run
      return std::move(out_);
    for (std::size_t i = 0; i < s_.ready.flat.size(); ++i)
      started(s_.ready.flat[i], *s_.frames.root, State::queued);
    for (std::size_t i = 0; i < s_.ready.small.size(); ++i)
      started(s_.ready.small[i].node, *s_.frames.root, State::queued);
    for (const auto* queue : {&s_.ready.framed, &s_.ready.expensive})
      for (std::size_t i = 0; i < queue->size(); ++i)
        started((*queue)[i].node, *(*queue)[i].iteration, State::queued);
    find_ends(*s_.frames.root);
    // Sends first: other devices wait for them.
    std::stable_partition(ends_.begin(), ends_.end(),
                          [&](const Place& end) { return is_transfer(end.node); });
    for (const Place& end : ends_)
      trace_back(end);
    return std::move(out_);
  }

private:
  const KernelNode& info(std::int32_t n) const { return p_.info[static_cast<std::size_t>(n)]; }
  const ProgramNode& node_at(std::int32_t n) const { return p_.nodes[static_cast<std::size_t>(n)]; }
  const FrameLayout& layout(const Iteration& iteration) const {
    return p_.frames[static_cast<std::size_t>(iteration.frame->layout)];
  }
  static bool contains(const FrameLayout& layout, std::int32_t n) {
    return n >= layout.first_node && n < layout.first_node + layout.num_nodes;
  }
  bool is_transfer(std::int32_t n) const { return info(n).schema->roles.has_any(transfer_roles); }
  static NodeRecord::End end_of(RoleSet roles) {
    using End = NodeRecord::End;
    if (roles.has(Role::send))
      return End::send;
    if (roles.has(Role::receive))
      return End::receive;
    return roles.has(Role::result) ? End::fetch : End::none;
  }
  bool is_full() const { return out_.nodes.size() >= limit_ || looks_ > max_looks; }
  static bool is_waiting(const Place& p) {
    return p.iteration->counts[p.node - p.iteration->first_node].pending > 0;
  }

  void started(std::int32_t n, const Iteration& iteration, State state,
               const PendingKernel* kernel = nullptr) {
    Place place{n < 0 ? ~n : n, &iteration};
    if (!started_.insert(place).second)
      return;
    ++out_.unfinished;
    // Half of the room is for what waits.
    if (out_.nodes.size() >= limit_ / 2)
      return;
    NodeRecord& record = add(place, state);
    if (!kernel)
      return;
    record.is_async = node_at(place.node).kind == Kind::async_kernel;
    record.running_us = std::max<std::int64_t>(0, now_us_ - kernel->since_us);
    if (record.is_async && kernel->context && kernel->context->step().step_resources)
      record.waits_for =
          noted_wait(*kernel->context->step().step_resources,
                     {.node = record.node, .frame = record.frame, .iteration = record.iteration});
  }

  NodeRecord& add(const Place& place, State state) {
    const KernelNode& from = info(place.node);
    NodeRecord& record = out_.nodes.emplace_back();
    record.node = from.name;
    record.op = from.schema->name;
    record.state = state;
    record.frame = place.iteration->frame->id;
    record.iteration = place.iteration->number;
    record.end = end_of(from.schema->roles);
    if (is_transfer(place.node)) {
      record.edge = from.attrs.get_or<std::string>("tensor_name", "");
      record.peer = from.attrs.get_or<std::string>(
          record.end == NodeRecord::End::send ? "recv_device" : "send_device", "");
    }
    return record;
  }

  // Waiting nodes that nothing in the graph waits for.
  void find_ends(const Iteration& iteration) {
    const FrameLayout& frame = layout(iteration);
    for (std::int32_t n = frame.first_node; n < frame.first_node + frame.num_nodes; ++n) {
      if (++looks_ > max_looks)
        return;
      if (iteration.counts[n - iteration.first_node].pending <= 0)
        continue;
      ++out_.unfinished;
      const ProgramNode& node = node_at(n);
      if (node.first_edge == node.end_edge && node.first_control == node.end_control)
        ends_.push_back({n, &iteration});
    }
    for (const FrameInstance* child = iteration.children; child; child = child->next_sibling)
      for (std::int64_t i = child->oldest; i <= child->newest; ++i)
        find_ends(*iteration_of(*child, i));
  }

  static const Iteration* iteration_of(const FrameInstance& frame, std::int64_t number) {
    return frame.iterations[static_cast<std::size_t>(number) & (frame.iterations.size() - 1)];
  }

  /// Where the input would come from, if that has not run; else a place without iteration.
  Place open_source(const Place& to, std::int32_t source) const {
    const Iteration& iteration = *to.iteration;
    Kind kind = node_at(source).kind;
    if (node_at(to.node).kind == Kind::merge && iteration.frame != &s_.frames.root_frame) {
      if (kind == Kind::enter && iteration.number > 0)
        return {};
      if (kind == Kind::next_iteration) { // of the round before
        if (iteration.number <= iteration.frame->oldest)
          return {};
        Place before{source, iteration_of(*iteration.frame, iteration.number - 1)};
        return is_open(before) ? before : Place{};
      }
    }
    if (contains(layout(iteration), source)) {
      Place here{source, &iteration};
      return is_open(here) ? here : Place{};
    }
    // An Exit of a loop below, or an Enter of ours in the frame above.
    for (const FrameInstance* child = iteration.children; child; child = child->next_sibling)
      if (contains(p_.frames[static_cast<std::size_t>(child->layout)], source))
        return {source, iteration_of(*child, child->newest)};
    const Iteration* parent = iteration.frame->parent;
    if (parent && contains(layout(*parent), source)) {
      Place above{source, parent};
      return is_open(above) ? above : Place{};
    }
    return {};
  }
  bool is_open(const Place& place) const { return is_waiting(place) || started_.contains(place); }

  std::vector<Missing> missing_of(const Place& place) {
    std::vector<Missing> out;
    auto look = [&](std::int32_t source, std::int32_t slot) {
      ++looks_;
      if (Place from = open_source(place, source); from.iteration)
        out.push_back({from, slot});
    };
    const ProgramNode& node = node_at(place.node);
    for (std::int32_t i = 0; i < node.num_inputs; ++i) {
      Source source = p_.sources.slots[static_cast<std::size_t>(node.first_input + i)];
      if (source.node >= 0)
        look(source.node, source.slot);
    }
    auto first =
        static_cast<std::size_t>(p_.sources.control_first[static_cast<std::size_t>(place.node)]);
    auto end = static_cast<std::size_t>(
        p_.sources.control_first[static_cast<std::size_t>(place.node) + 1]);
    for (std::size_t i = first; i < end; ++i)
      look(p_.sources.control_nodes[i], -1);
    return out;
  }

  std::string name_of(const Missing& missing) const {
    const std::string& name = info(missing.from.node).name;
    return missing.slot < 0 ? "^" + name : str_cat(name, ":", missing.slot);
  }

  // Records the node and, depth first, what it waits for.
  void trace_back(const Place& end) {
    std::vector<Place> stack{end};
    while (!stack.empty() && !is_full()) {
      Place place = stack.back();
      stack.pop_back();
      if (!recorded_.insert(place).second)
        continue;
      std::vector<Missing> missing = missing_of(place);
      std::size_t skipped = is_transfer(place.node) ? 0 : skip_chain(missing);
      NodeRecord& record = add(place, State::waiting);
      record.skipped = skipped;
      for (std::size_t i = 0; i < missing.size() && i < max_missing; ++i) {
        record.missing.push_back(name_of(missing[i]));
        if (is_waiting(missing[i].from) && !started_.contains(missing[i].from))
          stack.push_back(missing[i].from);
      }
      record.more_missing = missing.size() - record.missing.size();
    }
  }

  // Of nodes that wait for one thing each, goes to the last; how many there were between.
  std::size_t skip_chain(std::vector<Missing>& missing) {
    std::vector<Missing> links;
    std::unordered_set<Place, PlaceHash> seen;
    std::vector<Missing> at = missing;
    while (at.size() == 1 && looks_ <= max_looks && seen.insert(at[0].from).second) {
      links.push_back(at[0]);
      if (started_.contains(at[0].from) || recorded_.contains(at[0].from))
        break;
      at = missing_of(at[0].from);
    }
    if (links.size() <= max_chain)
      return 0;
    // The last link is what the chain waits for, or where it branches.
    missing = {links.back()};
    return links.size() - 1;
  }

  const StepState& s_;
  const Program& p_;
  std::size_t limit_;
  std::int64_t now_us_;
  std::size_t looks_ = 0;
  std::unordered_set<Place, PlaceHash> started_, recorded_;
  std::vector<Place> ends_;
  DeviceRecord out_;
};

} // namespace
} // namespace program

DeviceRecord StepRun::record(std::size_t limit) const {
  return program::Recorder(*state_, limit).run();
}

std::vector<Executable::Computing> Executable::computing(std::uint64_t step_id) const {
  std::vector<std::shared_ptr<const program::StepState>> states;
  append_states(states);
  std::vector<Computing> out;
  for (const auto& state : states) {
    std::int32_t n = state->at_work.of_owner.node.load(std::memory_order_acquire);
    if (n < 0 || state->at_work.step.load(std::memory_order_relaxed) != step_id)
      continue;
    const KernelNode& info = program_->info[static_cast<std::size_t>(n)];
    std::int64_t since = state->at_work.of_owner.since_us.load(std::memory_order_relaxed);
    out.push_back(
        {info.name, info.schema->name, std::max<std::int64_t>(0, steady_micros() - since)});
  }
  return out;
}

} // namespace troupe
