// Loop: runs the nodes of a step as they become ready. Once without frames, for graphs without v1
// loops, and once with them.
#pragma once

#include "actors/executor/internal/step_state.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"

namespace troupe::program {

/// Below this, some 20 us, a kernel is not worth another thread's wake-up, which takes 15 us of the
/// waker and often 50 more until the other runs.
inline constexpr std::uint32_t costly_ticks = 60'000;
/// Above this a kernel's own loops are worth all threads.
inline constexpr std::uint32_t long_ticks = 300'000;
/// Below this, some half a microsecond, a kernel is not worth being handed over in a batch.
inline constexpr std::uint32_t small_ticks = 1'500;
/// What a batch takes: 3 us are worth a hand-over to a thread that looks for work, and after 15 it
/// should look again. Some 40 us of kernels are worth waking one.
inline constexpr std::uint64_t least_batch_ticks = 9'000, most_batch_ticks = 45'000,
                               worth_waking_ticks = 120'000;

/// How far ahead of the node that runs a large program fetches what nodes write, for so many of
/// their edges; and what it must know of them for that.
inline constexpr std::int32_t nodes_ahead = 8, edges_ahead = 4, nodes_far_ahead = 20;

/// All functions but run_batch are for the step's owner. The rules are TensorFlow's
/// (common_runtime/propagator_state.cc), with one difference: cheap kernels go before small ones,
/// and those before expensive ones.
template <bool Frames>
class Loop {
public:
  explicit Loop(StepState& state) : s_(state), p_(state.program) {}

  /// Delivers the args and the roots.
  void start();
  /// Runs until nothing is ready, the step failed, or `slice` is over: then false.
  bool run(Duration slice, bool may_compute);
  /// Takes the outputs of a kernel that finished by itself.
  void complete(PendingKernel* kernel);
  /// Runs kernels on any thread; see Batch.
  void run_batch(Batch& batch);

private:
  const ProgramNode& node_at(std::int32_t n) const { return p_.nodes[static_cast<std::size_t>(n)]; }
  const KernelNode& info(std::int32_t n) const { return p_.info[static_cast<std::size_t>(n)]; }
  Counts& count(std::int32_t n, Iteration& iteration) {
    if constexpr (Frames)
      return iteration.count(n);
    else
      return iteration.counts[n];
  }
  Entry* slot(std::int32_t index, Iteration& iteration) {
    if constexpr (Frames)
      return iteration.slot(index);
    else
      return iteration.slots + index;
  }

  const std::string* receiver(const ProgramNode& node) const {
    const bool may_have = node.kind == Kind::kernel || node.kind == Kind::forward;
    return may_have && node.receiver >= 0 ? &p_.receivers[static_cast<std::size_t>(node.receiver)]
                                          : nullptr;
  }

  // What is ready.
  bool nothing_ready() const {
    if constexpr (Frames)
      return s_.ready.framed.empty();
    else
      return s_.ready.flat.empty();
  }
  bool has_nothing_to_do() const {
    return nothing_ready() && s_.ready.small.empty() && s_.ready.expensive.empty() &&
           !has_batches_out();
  }
  void push(std::int32_t n, bool dead, Iteration& iteration) {
    if constexpr (Frames) {
      ++iteration.outstanding;
      s_.ready.framed.push({dead ? ~n : n, &iteration});
    } else {
      s_.ready.flat.push(dead ? ~n : n);
    }
  }
  Item pop() {
    if constexpr (Frames)
      return s_.ready.framed.pop();
    else
      return {s_.ready.flat.pop(), s_.frames.root};
  }

  // One node.
  void process(Item item);
  // A live one that only passes control on: too little for a call.
  [[gnu::always_inline]] void run_no_op(const ProgramNode& node, Iteration& iteration) {
    ++s_.counters.nodes;
    send_controls(node, false, iteration);
    retire(iteration);
  }
  // Inlined by force: g++ takes a function that only prefetches for one without effect.
  [[gnu::always_inline]] void fetch_ahead(Item item) const {
    const Iteration& iteration = *item.iteration;
    const std::int32_t n = item.node < 0 ? ~item.node : item.node;
    auto far = static_cast<std::size_t>(n + nodes_far_ahead);
    if (far >= p_.nodes.size())
      return;
    const ProgramNode& near = node_at(n + nodes_ahead);
    const Edge* edges = p_.edges.data() + near.first_edge;
    std::int32_t end = std::min(near.end_edge - near.first_edge, edges_ahead);
    for (std::int32_t i = 0; i < end; ++i) {
      const char* slot = reinterpret_cast<const char*>(iteration.slots + edges[i].slot);
      __builtin_prefetch(slot, 1); // an entry lies in up to three lines
      __builtin_prefetch(slot + 64, 1);
      __builtin_prefetch(slot + sizeof(Entry) - 1, 1);
      __builtin_prefetch(iteration.counts + edges[i].dst, 1);
    }
    __builtin_prefetch(edges + 4 * edges_ahead);
    __builtin_prefetch(&p_.nodes[far]);
    __builtin_prefetch(&info(n + nodes_ahead).prepared);
  }
  void discard(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  bool run_kernel(std::int32_t n, const ProgramNode& node, Iteration& iteration, bool dead);
  // Reading the clock costs as much as a small kernel: those known to be small are measured in some
  // steps only.
  bool measure(std::int32_t n, const ProgramNode& node) const {
    if (!(node.flags & expensive)) [[likely]]
      return false;
    return s_.sampling.all || is_costly(n);
  }
  /// By what is known of it; a kernel that has never run counts as costly.
  bool is_costly(std::int32_t n) const {
    std::uint32_t cost = p_.costs[static_cast<std::size_t>(n)].load(std::memory_order_relaxed);
    return cost == 0 || cost >= costly_ticks;
  }
  bool takes_long(Item item) const {
    auto n = static_cast<std::size_t>(item.node < 0 ? ~item.node : item.node);
    return p_.costs[n].load(std::memory_order_relaxed) >= long_ticks;
  }
  /// Whether a kernel of unknown cost, or one above small_ticks, has been queued for later.
  bool put_off(std::int32_t n, const ProgramNode& node, Item item);
  bool is_put_off(std::int32_t n, const ProgramNode& node, Item item) {
    if (!(node.flags & expensive))
      return false;
    const auto cost = p_.costs[static_cast<std::size_t>(n)].load(std::memory_order_relaxed);
    return cost - 1 >= small_ticks - 1 && put_off(n, node, item); // 0 is unknown
  }
  enum class Turn : std::uint8_t { goes_on, expensive, idle, over };
  Turn run_put_off(bool may_compute);
  // Small kernels, see loop_batches.hpp.
  bool has_batches_out() const { return s_.crew && s_.crew->num_out() > 0; }
  void run_small();
  void hand_out();
  Status run_of_batch(Batch& batch);
  void finish_batch(Batch& batch);
  void take_done_batches();
  bool await_batches(bool may_wait);
  void abandon_batches();

  void run_expensive();
  void submit(Item item);
  bool take_back_submitted();
  PendingKernel* prepare(std::int32_t n, const ProgramNode& node, Iteration& iteration, bool dead);
  void start_async(std::int32_t n, const ProgramNode& node, Iteration& iteration, bool dead);
  bool run_forward(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  bool run_select(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  bool run_merge(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  bool run_retval(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  bool run_constant(const ProgramNode& node, Iteration& iteration);
  bool dereference(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  void clear_inputs(const ProgramNode& node, Iteration& iteration);
  bool check_outputs(std::int32_t n, const ProgramNode& node, Entry* outputs);
  Status wrong_output(std::int32_t n, std::int32_t number, const Entry& output,
                      DType declared) const;

  // Its consequences.
  void arrive(std::int32_t n, bool dead, Iteration& iteration) {
    Counts& c = count(n, iteration);
    c.dead += dead;
    if (--c.pending == 0)
      push(n, c.dead > 0, iteration);
  }
  void arrive_at_merge(std::int32_t n, Iteration& iteration, bool is_control, bool is_live,
                       bool from_enter);
  void send(const Edge& edge, Entry& value, Iteration& iteration, bool from_enter);
  void send_controls(const ProgramNode& node, bool dead, Iteration& iteration);
  void send_dead(const ProgramNode& node, Iteration& iteration, bool from_enter = false);
  /// Moves `outputs` along the node's edges and leaves them empty.
  void send_all(const ProgramNode& node, Entry* outputs, Iteration& iteration,
                bool from_enter = false);
  /// Sends `value` along the edges of one output; the others are dead. It may be moved from.
  void send_value(const ProgramNode& node, std::uint32_t output, Entry& value, Iteration& iteration,
                  bool from_enter = false) {
    const Edge* edges = p_.edges.data();
    for (std::int32_t i = node.first_edge; i < node.end_edge; ++i) {
      if (edges[i].src_slot == output) [[likely]]
        send(edges[i], value, iteration, from_enter);
      else if (edges[i].to_merge)
        arrive_at_merge(edges[i].dst, iteration, false, false, from_enter);
      else
        arrive(edges[i].dst, true, iteration);
    }
    send_controls(node, false, iteration);
  }
  /// The node has done all it does.
  void retire(Iteration& iteration) {
    if constexpr (Frames) {
      if (iteration.frame == &s_.frames.root_frame) {
        ++s_.frames.root_nodes;
      } else {
        ++iteration.done;
        if (--iteration.outstanding == 0)
          clean_up(&iteration);
      }
    } else {
      ++s_.frames.root_nodes;
    }
  }

  // Loops.
  /// Into a loop, to its next iteration, or out of it. False: the step has failed.
  bool cross(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  void run_enter(std::int32_t n, const ProgramNode& node, Iteration& iteration, bool dead);
  void run_exit(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  void run_next_iteration(std::int32_t n, const ProgramNode& node, Iteration& iteration);
  FrameInstance& child(Iteration& iteration, std::int32_t layout);
  Iteration* begin_iteration(FrameInstance& frame);
  void deliver(const HeldValue& held, Iteration& iteration, bool from_enter);
  void clean_up(Iteration* iteration);
  void delete_frame(FrameInstance* frame);

  void record(TraceRecord span, const Entry* outputs, std::int32_t num_outputs);

  StepState& s_;
  const Program& p_;
};

// Small things that every node goes through.

template <bool Frames>
inline void Loop<Frames>::send(const Edge& edge, Entry& value, Iteration& iteration,
                               bool from_enter) {
  if (!value.has_value()) [[unlikely]] {
    if (edge.to_merge)
      arrive_at_merge(edge.dst, iteration, false, false, from_enter);
    else
      arrive(edge.dst, true, iteration);
    return;
  }
  if (edge.to_merge) [[unlikely]] {
    if (!(count(edge.dst, iteration).pending & 1))
      return; // another value came first
    arrive_at_merge(edge.dst, iteration, false, true, from_enter);
    fill(*slot(edge.slot, iteration), value);
    return;
  }
  if (edge.last)
    fill(*slot(edge.slot, iteration), std::move(value));
  else
    fill(*slot(edge.slot, iteration), value);
  arrive(edge.dst, false, iteration);
}

template <bool Frames>
[[gnu::always_inline]] inline void Loop<Frames>::send_controls(const ProgramNode& node, bool dead,
                                                               Iteration& iteration) {
  const ControlEdge* edges = p_.controls.data();
  for (std::int32_t i = node.first_control; i < node.end_control; ++i) {
    ControlEdge edge = edges[i];
    auto dst = static_cast<std::int32_t>(edge.dst);
    if (edge.to_merge) [[unlikely]]
      arrive_at_merge(dst, iteration, true, !dead, false);
    else
      arrive(dst, dead, iteration);
  }
}

template <bool Frames>
inline void Loop<Frames>::send_all(const ProgramNode& node, Entry* outputs, Iteration& iteration,
                                   bool from_enter) {
  const Edge* edges = p_.edges.data();
  for (std::int32_t i = node.first_edge; i < node.end_edge; ++i)
    send(edges[i], outputs[edges[i].src_slot], iteration, from_enter);
  for (std::int32_t i = 0; i < node.num_outputs; ++i)
    empty(outputs[i]);
  send_controls(node, false, iteration);
}

template <bool Frames>
inline void Loop<Frames>::clear_inputs(const ProgramNode& node, Iteration& iteration) {
  Entry* inputs = slot(node.first_input, iteration);
  if (!(node.flags & constant_inputs)) [[likely]] {
    for (std::int32_t i = 0; i < node.num_inputs; ++i)
      empty(inputs[i]);
    return;
  }
  for (std::int32_t i = 0; i < node.num_inputs; ++i) {
    std::int32_t constant = p_.slot_constant[static_cast<std::size_t>(node.first_input + i)];
    if (constant < 0) {
      empty(inputs[i]);
      continue;
    }
    const Tensor& value = p_.constants[static_cast<std::size_t>(constant)];
    Tensor& held = inputs[i].tensor;
    if (held.buffer() == value.buffer() && held.raw() == value.raw() &&
        held.dtype() == value.dtype()) [[likely]]
      continue; // still there for the next step
    empty(inputs[i]);
    held = value;
  }
}

// Instantiated in loop.cpp, which sees the rest (loop_native.hpp, loop_frames.hpp,
// loop_batches.hpp).
extern template class Loop<false>;
extern template class Loop<true>;

} // namespace troupe::program
