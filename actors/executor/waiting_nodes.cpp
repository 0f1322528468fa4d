// Why a step does not go on: what runs, what is queued, and which inputs the others wait for.
#include <algorithm>
#include <set>

#include "actors/executor/internal/step_state.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace program {
namespace {

// Looks at counts alone: kernels on other threads may be writing the slots.
class Inquiry {
public:
  Inquiry(const StepState& state, std::size_t limit)
      : s_(state), p_(state.program), limit_(limit) {}

  std::vector<WaitingNode> run() {
    using State = WaitingNode::State;
    for (const PendingKernel* k = s_.running; k; k = k->next)
      unfinished(k->node, *k->iteration, State::running);
    for (std::size_t i = 0; i < s_.flat_ready.size(); ++i)
      unfinished(s_.flat_ready[i], *s_.root, State::queued);
    for (const auto* queue : {&s_.ready, &s_.ready_expensive})
      for (std::size_t i = 0; i < queue->size(); ++i)
        unfinished((*queue)[i].node, *(*queue)[i].iteration, State::queued);
    visit(*s_.root);
    return std::move(out_);
  }

private:
  void unfinished(std::int32_t n, const Iteration& it, WaitingNode::State state) {
    n = n < 0 ? ~n : n;
    unfinished_.emplace(n, &it);
    if (out_.size() < limit_)
      add(n, it, state);
  }

  WaitingNode& add(std::int32_t n, const Iteration& it, WaitingNode::State state) {
    const KernelNode& info = p_.info[static_cast<std::size_t>(n)];
    WaitingNode& node = out_.emplace_back();
    node.node = info.name;
    node.op = info.schema->name;
    node.state = state;
    node.frame = it.frame->id;
    node.iteration = it.number;
    return node;
  }

  // Whether a node of this iteration still has to run. One of another frame (Enter, Exit) is not
  // looked up: what it feeds has it among its missing inputs when it has not arrived.
  bool is_open(std::int32_t n, const Iteration& it) const {
    const FrameLayout& layout = p_.frames[static_cast<std::size_t>(it.frame->layout)];
    if (n < layout.first_node || n >= layout.first_node + layout.num_nodes)
      return true;
    return it.counts[n - it.first_node].pending > 0 || unfinished_.contains({n, &it});
  }

  void visit(const Iteration& it) {
    const FrameLayout& layout = p_.frames[static_cast<std::size_t>(it.frame->layout)];
    for (std::int32_t n = layout.first_node; n < layout.first_node + layout.num_nodes; ++n) {
      if (out_.size() >= limit_)
        return;
      if (it.counts[n - it.first_node].pending <= 0)
        continue;
      WaitingNode& node = add(n, it, WaitingNode::State::waiting);
      const ProgramNode& nd = p_.nodes[static_cast<std::size_t>(n)];
      for (std::int32_t i = 0; i < nd.num_inputs; ++i) {
        Source source = p_.slot_source[static_cast<std::size_t>(nd.first_input + i)];
        if (source.node >= 0 && is_open(source.node, it))
          node.missing.push_back(
              str_cat(p_.info[static_cast<std::size_t>(source.node)].name, ":", source.slot));
      }
      auto first = static_cast<std::size_t>(p_.control_first[static_cast<std::size_t>(n)]);
      auto end = static_cast<std::size_t>(p_.control_first[static_cast<std::size_t>(n) + 1]);
      for (std::size_t i = first; i < end; ++i)
        if (is_open(p_.control_sources[i], it))
          node.missing.push_back(
              str_cat("^", p_.info[static_cast<std::size_t>(p_.control_sources[i])].name));
    }
    for (const FrameInstance* frame = it.children; frame; frame = frame->next_sibling)
      for (std::int64_t i = frame->oldest; i <= frame->newest; ++i)
        visit(*frame->iterations[static_cast<std::size_t>(i) & (frame->iterations.size() - 1)]);
  }

  const StepState& s_;
  const Program& p_;
  std::size_t limit_;
  std::set<std::pair<std::int32_t, const Iteration*>> unfinished_;
  std::vector<WaitingNode> out_;
};

} // namespace
} // namespace program

std::vector<WaitingNode> StepRun::waiting_nodes(std::size_t limit) const {
  return program::Inquiry(*state_, limit).run();
}

} // namespace troupe
