#include "actors/executor/internal/step_state.hpp"

#include <cstring>
#include <new>

#include "core/base/clock.hpp"
#include "core/trace/recorder.hpp"
#include "devices/host/compute_pool.hpp"

namespace troupe::program {

namespace {

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

Iteration* make_iteration(const Program& program, std::size_t frame) {
  const FrameLayout& layout = program.frames[frame];
  auto nodes = static_cast<std::size_t>(layout.num_nodes);
  auto slots = static_cast<std::size_t>(layout.num_slots);
  std::size_t header = round_up(sizeof(Iteration));
  std::size_t counts = round_up(nodes * sizeof(Counts));
  auto* block = static_cast<std::byte*>(
      ::operator new (header + counts + slots * sizeof(Entry), std::align_val_t{64}));
  auto* iteration = new (block) Iteration;
  iteration->counts = reinterpret_cast<Counts*>(block + header);
  std::uninitialized_default_construct_n(iteration->counts, nodes);
  auto* first = reinterpret_cast<Entry*>(block + header + counts);
  for (std::size_t i = 0; i < slots; ++i) {
    std::int32_t constant = program.slot_constant[static_cast<std::size_t>(layout.first_slot) + i];
    new (first + i) Entry;
    if (constant >= 0)
      first[i].tensor = program.constants[static_cast<std::size_t>(constant)];
  }
  iteration->slots = first;
  iteration->first_node = layout.first_node;
  iteration->first_slot = layout.first_slot;
  return iteration;
}

void delete_iteration(Iteration* iteration, const FrameLayout& layout) {
  std::destroy_n(iteration->slots, layout.num_slots);
  iteration->~Iteration();
  ::operator delete (iteration, std::align_val_t{64});
}

} // namespace

void PendingKernel::finish(Status result) {
  status = std::move(result);
  if (self->hooks.trace) {
    end_us = wall_micros();
    thread = thread_number();
  }
  if (phase.exchange(done, std::memory_order_acq_rel) == starting)
    return; // whoever started it looks after it
  tell_owner(std::move(self), this);
}

void tell_owner(std::shared_ptr<StepState> state, PendingKernel* kernel) {
  std::shared_ptr<StepState> keep = state; // the hook is called in it
  keep->in_hook.fetch_add(1, std::memory_order_relaxed);
  keep->hooks.completed(keep->hooks.keep_alive.get(), Completion{std::move(state), kernel});
  keep->in_hook.fetch_sub(1, std::memory_order_release);
}

StepState::StepState(const Program& p) : program(p), may_spread(p.device->compute().threads() > 1) {
  root = make_iteration(p, 0);
  root->frame = &root_frame;
  scratch.resize(static_cast<std::size_t>(p.max_outputs));
  free_iterations.resize(p.frames.size());
}

StepState::~StepState() {
  if (crew)
    crew->unref();
  if (num_frames > 0)
    drop_frames(*root);
  delete_iteration(root, program.frames[0]);
  for (std::size_t i = 0; i < free_iterations.size(); ++i)
    while (Iteration* iteration = free_iterations[i]) {
      free_iterations[i] = iteration->next_free;
      delete_iteration(iteration, program.frames[i]);
    }
  while (FrameInstance* frame = free_frames) {
    free_frames = frame->next_free;
    delete frame;
  }
  for (PendingKernel* list : {free_kernels, running})
    while (list)
      delete std::exchange(list, list->next);
}

Iteration* StepState::take_iteration(std::int32_t layout) {
  const FrameLayout& frame = program.frames[static_cast<std::size_t>(layout)];
  Iteration*& list = free_iterations[static_cast<std::size_t>(layout)];
  Iteration* iteration = list;
  if (iteration)
    list = iteration->next_free;
  else
    iteration = make_iteration(program, static_cast<std::size_t>(layout));
  std::memcpy(static_cast<void*>(iteration->counts),
              &program.initial[static_cast<std::size_t>(frame.first_node)],
              static_cast<std::size_t>(frame.num_nodes) * sizeof(Counts));
  iteration->outstanding = 0;
  iteration->done = 0;
  iteration->num_children = 0;
  iteration->children = nullptr;
  return iteration;
}

void StepState::free_iteration(Iteration* iteration) {
  std::int32_t layout = iteration->frame->layout;
  const FrameLayout& frame = program.frames[static_cast<std::size_t>(layout)];
  // Who has run has emptied its inputs.
  if (iteration->done != frame.num_nodes || failed)
    empty_slots(*iteration);
  Iteration*& list = free_iterations[static_cast<std::size_t>(layout)];
  iteration->next_free = list;
  list = iteration;
}

// All but pre-filled ones, which get their constants.
void StepState::empty_slots(Iteration& iteration) {
  const FrameLayout& layout = program.frames[static_cast<std::size_t>(iteration.frame->layout)];
  for (std::int32_t i = 0; i < layout.num_slots; ++i) {
    std::int32_t constant = program.slot_constant[static_cast<std::size_t>(layout.first_slot + i)];
    empty(iteration.slots[i]);
    if (constant >= 0)
      iteration.slots[i].tensor = program.constants[static_cast<std::size_t>(constant)];
  }
}

FrameInstance* StepState::take_frame() {
  ++num_frames;
  FrameInstance* frame = free_frames;
  if (!frame)
    return new FrameInstance;
  free_frames = frame->next_free;
  return frame;
}

void StepState::free_frame(FrameInstance* frame) {
  frame->invariants.clear();
  frame->deferred.clear();
  frame->dead_exits.clear();
  frame->next_free = free_frames;
  free_frames = frame;
  --num_frames;
}

PendingKernel* StepState::take_kernel() {
  PendingKernel* kernel = free_kernels;
  if (!kernel)
    return new PendingKernel;
  free_kernels = kernel->next;
  return kernel;
}

void StepState::free_kernel(PendingKernel* kernel) {
  kernel->context.reset();
  kernel->outputs.clear();
  kernel->status = Status{};
  kernel->self.reset();
  kernel->next = free_kernels;
  free_kernels = kernel;
}

void StepState::link(PendingKernel* kernel) {
  kernel->previous = nullptr;
  kernel->next = running;
  if (running)
    running->previous = kernel;
  running = kernel;
  ++num_running;
}

void StepState::unlink(PendingKernel* kernel) {
  (kernel->previous ? kernel->previous->next : running) = kernel->next;
  if (kernel->next)
    kernel->next->previous = kernel->previous;
  --num_running;
}

void StepState::fail(std::int32_t node, const Status& error) {
  if (failed) {
    ++counters.derived;
    return;
  }
  failed = true;
  status = error;
  if (hooks.report_allocations && error.code() == Code::resource_exhausted)
    status = Status(error.code(), error.message() + held_values());
  if (node >= 0) {
    const KernelNode& info = program.info[static_cast<std::size_t>(node)];
    status = status.with_origin(
        {info.name, info.schema->name, program.device->name(), environment->step_id});
  }
  if (environment->cancellation)
    environment->cancellation->cancel(status.as_derived());
}

void StepState::drop_frames(Iteration& iteration) {
  for (FrameInstance* frame = std::exchange(iteration.children, nullptr); frame;) {
    for (std::int64_t i = frame->oldest; i <= frame->newest; ++i) {
      drop_frames(*frame->at(i));
      free_iteration(frame->at(i));
    }
    FrameInstance* next = frame->next_sibling;
    free_frame(frame);
    frame = next;
  }
}

void StepState::reset(bool clean_slots) {
  if (num_frames > 0)
    drop_frames(*root);
  if (!clean_slots) {
    empty_slots(*root);
    for (Entry& entry : scratch)
      empty(entry);
    flat_ready.clear();
    ready.clear();
    ready_expensive.clear();
    ready_small.clear();
    small_cost = 0;
  }
  root->outstanding = 0;
  root->num_children = 0;
  executable.reset();
  environment = nullptr;
  hooks = StepHooks{};
  args.clear();
  retvals.clear();
  late_values.clear();
  status = Status{};
  counters = StepCounters{};
  num_submitted = 0;
  root_nodes = 0;
  started = failed = finished = false;
  trace.clear();
}

void StepState::read_late_values() {
  for (const LateValue& late : late_values) {
    Tensor value = late.variable->snapshot();
    if (!value.has_value()) {
      const auto input =
          static_cast<std::size_t>(program.nodes[static_cast<std::size_t>(late.node)].first_input);
      const auto source = static_cast<std::size_t>(program.slot_source[input].node);
      return fail(late.node, uninitialized_value(program.info[source].name));
    }
    const auto position = program.nodes[static_cast<std::size_t>(late.node)].position;
    retvals[static_cast<std::size_t>(position)] = std::move(value);
  }
}

} // namespace troupe::program
