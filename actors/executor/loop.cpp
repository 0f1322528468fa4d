#include "actors/executor/internal/loop.hpp"

#include <chrono>

#include "actors/executor/internal/loop_batches.hpp"
#include "actors/executor/internal/loop_frames.hpp"
#include "actors/executor/internal/loop_native.hpp"
#include "core/trace/recorder.hpp"
#include "devices/host/compute_pool.hpp"
#include "kernels/framework/session_tensors.hpp"
#include "kernels/framework/variables.hpp"

namespace troupe::program {

namespace {

std::int64_t nanos() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// Puts the value that the session keeps in the place of its handle.
Status take_kept(NodeStates* session, Tensor& handle) {
  const std::string name = handle.data<ResourceHandle>()[0].name;
  if (!session)
    return invalid_argument(str_cat("The tensor with handle '", name, "' is of no session."));
  TROUPE_ASSIGN(handle, SessionTensors::of(*session)->find(name));
  return {};
}

/// On any thread.
Status run_timed(PendingKernel& kernel) {
  const Program& p = kernel.self->program;
  const auto n = static_cast<std::size_t>(kernel.node);
  const std::uint64_t ticks = cpu_ticks();
  Status status = guarded(p.nodes[n].compute, *kernel.context);
  add_cost(p.costs[n], cpu_ticks() - ticks);
  return status;
}

// When to look at the clock again: twice as many nodes later each time, as long as they take next
// to nothing of the slice. A look costs as much as several nodes; a small step has none. The slice
// begins with the first, or with the first expensive kernel.
class Looks {
public:
  explicit Looks(Duration slice) : slice_(slice.count()) {}

  static constexpr int first_nodes = 64;

  void begin() {
    if (last_ == 0)
      last_ = nanos();
  }

  // Nodes until the next look; 0: the slice is over. Not in the loop, which is short.
  [[gnu::noinline]] int next() {
    if (slice_ == Duration::max().count())
      return max_nodes;
    begin();
    const std::int64_t now = nanos(), took = now - last_;
    taken_ += took;
    if (taken_ >= slice_)
      return 0;
    last_ = now;
    nodes_ = took * quick_share < slice_ ? std::min(2 * nodes_, max_nodes) : first_nodes;
    return nodes_;
  }

private:
  static constexpr int max_nodes = 1024, quick_share = 32;
  std::int64_t slice_, last_ = 0, taken_ = 0;
  int nodes_ = first_nodes;
};

} // namespace

template <bool Frames>
void Loop<Frames>::record(TraceRecord span, const Entry* outputs, std::int32_t num_outputs) {
  for (std::int32_t i = 0; i < num_outputs; ++i)
    if (outputs[i].tensor.has_value())
      span.outputs.push_back(describe(i, outputs[i].tensor));
    else if (outputs[i].ref && outputs[i].ref->is_initialized())
      span.outputs.push_back(describe(i, outputs[i].ref->snapshot()));
  s_.trace.spans.push_back(std::move(span));
}

template <bool Frames>
void Loop<Frames>::start() {
  for (std::int32_t n : p_.args) {
    const ProgramNode& arg = node_at(n);
    ++s_.counters.nodes;
    ++s_.frames.root_nodes;
    auto index = static_cast<std::size_t>(arg.index);
    if (index >= s_.args.size() || !s_.args[index].has_value())
      return s_.fail(n, invalid_argument(str_cat("argument ", index, " has no value")));
    if (s_.args[index].dtype() != arg.output_type && is_tensor_handle(s_.args[index]))
      if (Status found = take_kept(s_.environment->node_states, s_.args[index]); !found.ok())
        return s_.fail(n, found);
    if (s_.args[index].dtype() != arg.output_type)
      return s_.fail(n, invalid_argument(str_cat("argument ", index, " is of type ",
                                                 to_string(s_.args[index].dtype()), ", expected ",
                                                 to_string(arg.output_type))));
    if (arg.output_type == DType::string)
      if (Status counted = s_.args[index].settle(p_.device->host_side_allocator()); !counted.ok())
        return s_.fail(n, counted);
    s_.scratch[0].tensor = std::move(s_.args[index]);
    send_all(arg, s_.scratch.data(), *s_.frames.root);
  }
  for (std::int32_t n : p_.roots)
    push(n, false, *s_.frames.root);
}

template <bool Frames>
bool Loop<Frames>::run(Duration slice, bool may_compute) {
  const bool is_large = p_.is_large;
  Looks looks(slice);
  int budget = Looks::first_nodes;
  if (has_batches_out()) [[unlikely]]
    take_done_batches();
  while (!s_.failed) {
    if (!nothing_ready()) {
      Item item = pop();
      if (is_large) [[unlikely]]
        fetch_ahead(item);
      if (item.node >= 0 && node_at(item.node).kind == Kind::no_op)
        run_no_op(node_at(item.node), *item.iteration);
      else
        process(item);
    } else {
      const Turn turn = run_put_off(may_compute);
      if (turn == Turn::idle || turn == Turn::over)
        return turn == Turn::idle;
      if (turn == Turn::expensive) {
        looks.begin();
        run_expensive();
        budget = 1;
      }
    }
    if (--budget <= 0) {
      budget = looks.next();
      if (budget == 0 && !s_.failed)
        return has_nothing_to_do();
    }
  }
  if (has_batches_out())
    abandon_batches();
  return true;
}

// Nothing is ready that is done at once. What helpers have done comes first, since that may follow.
// Not in the loop, which is short.
template <bool Frames>
[[gnu::noinline]] auto Loop<Frames>::run_put_off(bool may_compute) -> Turn {
  if (has_batches_out() && s_.crew->is_some_done()) {
    take_done_batches();
  } else if (!s_.ready.small.empty()) {
    run_small();
  } else if (!s_.ready.expensive.empty()) {
    if (!may_compute || s_.owner_wants_turn())
      return Turn::over;
    if (s_.crew) // its threads may be of use to the kernel
      s_.crew->dismiss();
    return Turn::expensive;
  } else if ((!has_batches_out() || !await_batches(may_compute)) &&
             (s_.kernels.submitted.empty() || !may_compute || s_.owner_wants_turn() ||
              !take_back_submitted())) {
    return Turn::idle;
  }
  return Turn::goes_on;
}

template <bool Frames>
void Loop<Frames>::process(Item item) {
  const bool dead = item.node < 0;
  const std::int32_t n = dead ? ~item.node : item.node;
  const ProgramNode& node = node_at(n);
  Iteration& iteration = *item.iteration;
  ++s_.counters.nodes;
  if (dead && !(node.flags & runs_when_dead)) [[unlikely]]
    return discard(n, node, iteration);
  switch (node.kind) {
  case Kind::kernel:
    if (is_put_off(n, node, item))
      return;
    if (!run_kernel(n, node, iteration, dead))
      return;
    break;
  case Kind::async_kernel:
    return start_async(n, node, iteration, dead);
  case Kind::no_op: // a ControlTrigger that is dead, and lives; run() does the others
    send_controls(node, false, iteration);
    break;
  case Kind::constant:
    if (!run_constant(node, iteration))
      return;
    break;
  case Kind::arg: // with control inputs; start() does the others
    s_.scratch[0].tensor = s_.args[static_cast<std::size_t>(node.index)];
    send_all(node, s_.scratch.data(), iteration);
    break;
  case Kind::retval:
    if (!run_retval(n, node, iteration))
      return;
    break;
  case Kind::forward:
    if (!run_forward(n, node, iteration))
      return;
    break;
  case Kind::select:
    if (!run_select(n, node, iteration))
      return;
    break;
  case Kind::merge:
    if (!run_merge(n, node, iteration))
      return;
    break;
  case Kind::enter:
  case Kind::exit:
  case Kind::next_iteration:
    if constexpr (Frames)
      if (!cross(n, node, iteration))
        return;
    break;
  }
  retire(iteration);
}

template <bool Frames>
bool Loop<Frames>::cross(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (!dereference(n, node, iteration))
    return false;
  if (node.kind == Kind::enter)
    run_enter(n, node, iteration, false);
  else if (node.kind == Kind::exit)
    run_exit(n, node, iteration);
  else
    run_next_iteration(n, node, iteration);
  return true;
}

// A dead node does nothing but tell its successors; what ends or begins a loop keeps the news.
template <bool Frames>
void Loop<Frames>::discard(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  ++s_.counters.dead;
  clear_inputs(node, iteration);
  if constexpr (Frames) {
    if (node.kind == Kind::enter) {
      run_enter(n, node, iteration, true);
      return retire(iteration);
    }
    if (node.kind == Kind::exit) {
      if (iteration.number == iteration.frame->newest)
        iteration.frame->dead_exits.push_back(n);
      return retire(iteration);
    }
    if (node.kind == Kind::next_iteration)
      return retire(iteration);
  }
  send_dead(node, iteration);
  retire(iteration);
}

template <bool Frames>
void Loop<Frames>::send_dead(const ProgramNode& node, Iteration& iteration, bool from_enter) {
  for (std::int32_t i = node.first_edge; i < node.end_edge; ++i) {
    const Edge& edge = p_.edges[static_cast<std::size_t>(i)];
    if (edge.to_merge)
      arrive_at_merge(edge.dst, iteration, false, false, from_enter);
    else
      arrive(edge.dst, true, iteration);
  }
  send_controls(node, true, iteration);
}

// Ready when all control inputs are there and a live value is, or none can come any more. A dead
// Enter means that none will: the loop it would begin is never entered.
template <bool Frames>
void Loop<Frames>::arrive_at_merge(std::int32_t n, Iteration& iteration, bool is_control,
                                   bool is_live, bool from_enter) {
  Counts& c = count(n, iteration);
  if (is_control)
    c.pending -= 2;
  else if (is_live)
    c.pending &= ~1;
  else
    c.dead = from_enter ? node_at(n).num_inputs : c.dead + 1;
  bool all_dead = (c.pending & 1) && c.dead >= node_at(n).num_inputs;
  if (c.pending == 0) {
    // A dead input after the value has come changes nothing: the Merge ran when it came.
    if (is_control || is_live)
      push(n, false, iteration);
  } else if (c.pending == 1 && all_dead) {
    c.pending = 0;
    push(n, true, iteration);
  }
}

template <bool Frames>
bool Loop<Frames>::dereference(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  if (!(node.flags & reference_inputs)) [[likely]]
    return true;
  Entry* inputs = slot(node.first_input, iteration);
  for (std::int32_t i = 0; i < node.num_inputs; ++i) {
    if (!inputs[i].ref)
      continue;
    bool wants_value = !is_ref(node.io->types.inputs[static_cast<std::size_t>(i)]);
    Tensor value = wants_value
                       ? snapshot_for(receiver(node), *inputs[i].ref, s_.environment->rendezvous)
                       : Tensor{};
    bool initialized = wants_value ? value.has_value() : inputs[i].ref->is_initialized();
    if (!initialized && !(node.flags & accepts_uninitialized)) {
      Source source = p_.sources.slots[static_cast<std::size_t>(node.first_input + i)];
      s_.fail(n, uninitialized_value(info(source.node).name));
      return false;
    }
    if (wants_value) {
      inputs[i].tensor = std::move(value);
      inputs[i].ref.reset();
    }
  }
  return true;
}

template <bool Frames>
bool Loop<Frames>::check_outputs(std::int32_t n, const ProgramNode& node, Entry* outputs) {
  for (std::int32_t i = 0; i < node.num_outputs; ++i) {
    const Entry& output = outputs[i];
    DType declared =
        i == 0 ? node.output_type : node.io->types.outputs[static_cast<std::size_t>(i)];
    if (output.tensor.dtype() == declared) [[likely]] {
      if (declared != DType::string) [[likely]]
        continue;
      Status counted = output.tensor.settle(p_.device->host_side_allocator());
      if (counted.ok())
        continue;
      s_.fail(n, counted);
      return false;
    }
    if (output.ref && is_ref(declared) && make_ref(output.ref->dtype()) == declared)
      continue;
    if (!output.has_value() && (node.flags & may_leave_unset))
      continue;
    s_.fail(n, wrong_output(n, i, output, declared));
    return false;
  }
  return true;
}

template <bool Frames>
Status Loop<Frames>::wrong_output(std::int32_t n, std::int32_t number, const Entry& output,
                                  DType declared) const {
  if (!output.has_value())
    return internal(str_cat("Missing ", number, "-th output from node '", info(n).name, "'"));
  DType actual = output.ref ? make_ref(output.ref->dtype()) : output.tensor.dtype();
  return internal(str_cat("Output ", number, " of type ", to_string(actual),
                          " does not match declared output type ", to_string(declared),
                          " for node '", info(n).name, "'"));
}

template <bool Frames>
bool Loop<Frames>::run_kernel(std::int32_t n, const ProgramNode& node, Iteration& iteration,
                              bool dead) {
  if (!dereference(n, node, iteration))
    return false;
  bool direct = node.direct_slot >= 0;
  Entry* outputs = direct ? slot(node.direct_slot, iteration) : s_.scratch.data();
  KernelContext context(
      info(n), *node.io, *s_.environment,
      {slot(node.first_input, iteration), static_cast<std::size_t>(node.num_inputs)},
      {outputs, static_cast<std::size_t>(node.num_outputs)});
  if constexpr (Frames) {
    context.frame_id = iteration.frame->id;
    context.iteration = iteration.number;
  }
  context.is_input_dead = dead;
  context.receiver = receiver(node);
  std::int64_t start_us = s_.hooks.trace ? wall_micros() : 0;
  const bool measured = measure(n, node);
  std::uint64_t ticks = measured ? cpu_ticks() : 0;
  Status status = guarded(node.compute, context);
  if (!status.ok()) [[unlikely]] {
    s_.fail(n, status);
    return false;
  }
  if (measured)
    add_cost(p_.costs[static_cast<std::size_t>(n)], cpu_ticks() - ticks);
  if (s_.hooks.trace) [[unlikely]]
    record({n, thread_number(), start_us, wall_micros()}, outputs, node.num_outputs);
  if (!check_outputs(n, node, outputs)) [[unlikely]]
    return false;
  clear_inputs(node, iteration);
  if (direct) {
    arrive(p_.edges[static_cast<std::size_t>(node.first_edge)].dst, false, iteration);
    send_controls(node, false, iteration);
  } else {
    send_all(node, outputs, iteration);
  }
  return true;
}

// This thread takes one expensive kernel itself and hands others to idle compute threads. A kernel
// that takes long splits itself over all of them: next to another one it would only wait for them.
template <bool Frames>
void Loop<Frames>::run_expensive() {
  auto helpers = static_cast<std::size_t>(p_.device->compute().threads() - 1);
  Item item = s_.ready.expensive.pop();
  while (!s_.ready.expensive.empty() && s_.kernels.submitted.size() < helpers &&
         !takes_long(item)) {
    submit(item);
    item = s_.ready.expensive.pop();
  }
  if (s_.failed)
    return;
  std::int32_t n = item.node < 0 ? ~item.node : item.node;
  s_.at_work.step.store(s_.environment->step_id, std::memory_order_relaxed);
  s_.at_work.of_owner.begin(n);
  bool done = run_kernel(n, node_at(n), *item.iteration, item.node < 0);
  s_.at_work.of_owner.end();
  if (done)
    retire(*item.iteration);
}

template <bool Frames>
PendingKernel* Loop<Frames>::prepare(std::int32_t n, const ProgramNode& node, Iteration& iteration,
                                     bool dead) {
  if (!dereference(n, node, iteration))
    return nullptr;
  PendingKernel* kernel = s_.kernels.take();
  kernel->node = n;
  kernel->iteration = &iteration;
  kernel->outputs.resize(static_cast<std::size_t>(node.num_outputs));
  KernelContext& context =
      kernel->context.emplace(info(n), *node.io, *s_.environment,
                              std::span<Entry>{slot(node.first_input, iteration),
                                               static_cast<std::size_t>(node.num_inputs)},
                              std::span<Entry>(kernel->outputs));
  if constexpr (Frames) {
    context.frame_id = iteration.frame->id;
    context.iteration = iteration.number;
  }
  context.is_input_dead = dead;
  context.receiver = receiver(node);
  kernel->start_us = s_.hooks.trace ? wall_micros() : 0;
  kernel->since_us = coarse_micros();
  kernel->self = s_.shared_from_this();
  s_.kernels.link(kernel);
  return kernel;
}

template <bool Frames>
void Loop<Frames>::submit(Item item) {
  bool dead = item.node < 0;
  std::int32_t n = dead ? ~item.node : item.node;
  PendingKernel* kernel = prepare(n, node_at(n), *item.iteration, dead);
  if (!kernel)
    return;
  ++s_.counters.submitted;
  s_.kernels.submitted.push_back(kernel);
  kernel->phase.store(PendingKernel::waiting, std::memory_order_relaxed);
  kernel->ticket = p_.device->compute().submit([kernel] {
    kernel->self->at_work.handed_out.begin(kernel->node);
    Status status = run_timed(*kernel);
    kernel->self->at_work.handed_out.end(kernel->node);
    kernel->finish(std::move(status));
  });
}

// Nothing else is ready. Where other processes want the cores a helper may be long in coming.
template <bool Frames>
bool Loop<Frames>::take_back_submitted() {
  for (PendingKernel* kernel : s_.kernels.submitted) {
    const std::uint64_t ticket = std::exchange(kernel->ticket, 0);
    if (ticket == 0 || !p_.device->compute().withdraw(ticket))
      continue;
    s_.at_work.step.store(s_.environment->step_id, std::memory_order_relaxed);
    s_.at_work.of_owner.begin(kernel->node);
    kernel->note_end(run_timed(*kernel));
    s_.at_work.of_owner.end();
    kernel->self.reset();
    complete(kernel);
    return true;
  }
  return false;
}

template <bool Frames>
void Loop<Frames>::start_async(std::int32_t n, const ProgramNode& node, Iteration& iteration,
                               bool dead) {
  PendingKernel* kernel = prepare(n, node, iteration, dead);
  if (!kernel)
    return;
  ++s_.counters.async;
  kernel->phase.store(PendingKernel::starting, std::memory_order_relaxed);
  try {
    node.compute_async(*kernel->context,
                       [kernel](Status status) { kernel->finish(std::move(status)); });
  } catch (const StepCancelled&) {
    kernel->finish(kernel->context->cancellation().status());
  } catch (const std::exception& e) { // before it could promise to finish
    kernel->finish(program::thrown(e));
  }
  int expected = PendingKernel::starting;
  if (kernel->phase.compare_exchange_strong(expected, PendingKernel::waiting,
                                            std::memory_order_acq_rel))
    return;
  ++s_.counters.async_done;
  complete(kernel);
}

template <bool Frames>
void Loop<Frames>::complete(PendingKernel* kernel) {
  if (!kernel) {
    if (has_batches_out())
      take_done_batches();
    return;
  }
  std::int32_t n = kernel->node;
  const ProgramNode& node = node_at(n);
  Iteration& iteration = *kernel->iteration;
  s_.kernels.unlink(kernel);
  if (node.kind == Kind::kernel)
    std::erase(s_.kernels.submitted, kernel);
  if (!kernel->status.ok()) {
    s_.fail(n, kernel->status);
  } else if (!s_.failed) {
    if (s_.hooks.trace)
      record({n, kernel->thread, kernel->start_us, kernel->end_us}, kernel->outputs.data(),
             node.num_outputs);
    if (check_outputs(n, node, kernel->outputs.data())) {
      clear_inputs(node, iteration);
      send_all(node, kernel->outputs.data(), iteration);
      retire(iteration);
    }
  }
  s_.kernels.free(kernel);
}

template class Loop<false>;
template class Loop<true>;

} // namespace troupe::program
