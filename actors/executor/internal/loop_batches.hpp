// Kernels that are small, yet large enough to run on several threads at once: those that are ready
// go to compute threads by the batch, while the owner runs some itself and looks after all of them.
#pragma once

#include <exception>

#include "actors/executor/internal/loop.hpp"
#include "core/base/clock.hpp"
#include "core/trace/recorder.hpp"
#include "devices/host/compute_pool.hpp"

namespace troupe::program {

inline Status thrown(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e))
    return resource_exhausted("the system has no memory for what the kernel computes with, beside "
                              "its tensors");
  return internal(str_cat("the kernel threw: ", e.what()));
}

// What a kernel throws (no memory, a library's complaint) becomes a status here.
inline Status guarded(KernelFn compute, KernelContext& context) {
  try {
    return compute(context);
  } catch (const StepCancelled&) {
    return context.cancellation().status();
  } catch (const std::exception& e) {
    return thrown(e);
  }
}

// A thread that lost its core for a while has not measured the kernel: one sample changes the
// average little, several in a row change it much.
inline void add_cost(std::atomic<std::uint32_t>& average, std::uint64_t ticks) {
  std::uint64_t sample = std::min<std::uint64_t>(ticks, 100'000'000);
  std::uint64_t old = average.load(std::memory_order_relaxed);
  if (old)
    sample = std::min(sample, 2 * old + 1000);
  std::uint64_t now = old ? (old * 9 + sample) / 10 : sample;
  average.store(static_cast<std::uint32_t>(now ? now : 1), std::memory_order_relaxed);
}

template <bool Frames>
bool Loop<Frames>::put_off(std::int32_t n, const ProgramNode& node, Item item) {
  const std::uint32_t cost = p_.costs[static_cast<std::size_t>(n)].load(std::memory_order_relaxed);
  if (cost == 0 || cost >= costly_ticks) {
    s_.ready.expensive.push(item);
    return true;
  }
  if (Frames || !(node.flags & spreads) || !s_.may_spread)
    return false;
  s_.ready.small.push({n, cost});
  s_.ready.small_cost += cost;
  return true;
}

// One here; others go to helpers, oldest first too: what is wide is done before what is deep, so
// that there is enough for all.
template <bool Frames>
void Loop<Frames>::run_small() {
  if constexpr (Frames) // these have none; nor is there code for them, which is short then
    return;
  if (s_.ready.small_cost >= 2 * least_batch_ticks)
    hand_out();
  const SmallItem item = s_.ready.small.pop();
  s_.ready.small_cost -= item.cost;
  if (run_kernel(item.node, node_at(item.node), *s_.frames.root, false))
    retire(*s_.frames.root);
}

template <bool Frames>
void Loop<Frames>::hand_out() {
  if (!s_.crew)
    s_.crew = new Crew(p_.device->compute());
  Crew& crew = *s_.crew;
  if (!crew.has_helpers() && s_.ready.small_cost < worth_waking_ticks)
    return;
  const std::size_t helpers = std::max<std::uint64_t>(s_.ready.small_cost / worth_waking_ticks, 1);
  while (crew.has_room() && s_.ready.small_cost >= 2 * least_batch_ticks &&
         s_.ready.small.size() > 1) {
    const std::uint64_t enough = std::clamp(s_.ready.small_cost / (2 * (crew.most_helpers() + 1)),
                                            least_batch_ticks, most_batch_ticks);
    Batch& batch = crew.blank();
    batch.state = &s_;
    batch.count = 0;
    for (std::uint64_t cost = 0;
         cost < enough && batch.count < Batch::most && s_.ready.small.size() > 1;) {
      const SmallItem item = s_.ready.small.pop();
      batch.nodes[static_cast<std::size_t>(batch.count++)] = item.node;
      cost += item.cost;
      s_.ready.small_cost -= item.cost;
    }
    s_.counters.submitted += static_cast<std::uint64_t>(batch.count);
    ++s_.kernels.num_running;
    crew.publish(helpers);
  }
}

// Any thread. Of the step it writes only the inputs and outputs of the batch's nodes.
template <bool Frames>
void Loop<Frames>::run_batch(Batch& batch) {
  s_.at_work.handed_out.begin(batch.nodes[0]);
  for (batch.num_run = 0; batch.num_run < batch.count; ++batch.num_run) {
    batch.status = run_of_batch(batch);
    if (!batch.status.ok()) [[unlikely]]
      break;
  }
  s_.at_work.handed_out.end(batch.nodes[0]);
}

template <bool Frames>
Status Loop<Frames>::run_of_batch(Batch& batch) {
  const auto number = static_cast<std::size_t>(batch.num_run);
  const std::int32_t n = batch.nodes[number];
  const ProgramNode& node = node_at(n);
  Iteration& iteration = *s_.frames.root;
  Entry own;
  const bool direct = node.direct_slot >= 0;
  Entry& output = direct ? *slot(node.direct_slot, iteration) : own;
  KernelContext context(
      info(n), *node.io, *s_.environment,
      {slot(node.first_input, iteration), static_cast<std::size_t>(node.num_inputs)}, {&output, 1});
  context.receiver = receiver(node);
  const std::int64_t start_us = s_.hooks.trace ? wall_micros() : 0;
  const bool measured = s_.sampling.all;
  const std::uint64_t ticks = measured ? cpu_ticks() : 0;
  TROUPE_TRY(guarded(node.compute, context));
  if (measured)
    add_cost(p_.costs[static_cast<std::size_t>(n)], cpu_ticks() - ticks);
  if (output.tensor.dtype() != node.output_type) [[unlikely]]
    return wrong_output(n, 0, output, node.output_type);
  if (s_.hooks.trace) [[unlikely]]
    batch.spans[number] = {
        n, thread_number(), start_us, wall_micros(), {describe(0, output.tensor)}};
  clear_inputs(node, iteration);
  for (std::int32_t i = node.first_edge; i < node.end_edge && !direct; ++i) {
    const Edge& edge = p_.edges[static_cast<std::size_t>(i)];
    if (edge.last)
      fill(*slot(edge.slot, iteration), std::move(output));
    else
      fill(*slot(edge.slot, iteration), output);
  }
  return {};
}

// What follows from a batch that has run.
template <bool Frames>
void Loop<Frames>::finish_batch(Batch& batch) {
  if constexpr (Frames)
    return;
  Iteration& iteration = *s_.frames.root;
  for (std::int32_t i = 0; i < batch.num_run && !s_.failed; ++i) {
    const ProgramNode& node = node_at(batch.nodes[static_cast<std::size_t>(i)]);
    for (std::int32_t k = node.first_edge; k < node.end_edge; ++k)
      arrive(p_.edges[static_cast<std::size_t>(k)].dst, false, iteration);
    send_controls(node, false, iteration);
    retire(iteration);
    if (s_.hooks.trace) [[unlikely]]
      s_.trace.spans.push_back(std::move(batch.spans[static_cast<std::size_t>(i)]));
  }
  if (!batch.status.ok()) [[unlikely]]
    s_.fail(batch.nodes[static_cast<std::size_t>(batch.num_run)], batch.status);
  s_.crew->recycle(batch);
  --s_.kernels.num_running;
}

template <bool Frames>
void Loop<Frames>::take_done_batches() {
  for (Batch* batch = s_.crew->take_done(); batch;) {
    Batch* next = batch->next;
    finish_batch(*batch);
    batch = next;
  }
}

// Nothing else is ready. Helpers may have left: then what they have not begun is run here.
template <bool Frames>
bool Loop<Frames>::await_batches(bool may_wait) {
  Crew& crew = *s_.crew;
  if (Batch* batch = crew.take_back()) {
    run_batch(*batch);
    finish_batch(*batch);
    return true;
  }
  if (!crew.is_some_done() && (!may_wait || !crew.wait_a_little()) && crew.sleep())
    return false;
  take_done_batches();
  return true;
}

// The step has failed: batches that have not begun are dropped, the others are reported.
template <bool Frames>
void Loop<Frames>::abandon_batches() {
  Crew& crew = *s_.crew;
  while (Batch* batch = crew.take_back()) {
    crew.recycle(*batch);
    --s_.kernels.num_running;
  }
  do
    take_done_batches();
  while (crew.num_out() > 0 && !crew.sleep());
}

} // namespace troupe::program
