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

void PendingKernel::note_end(Status result) {
  status = std::move(result);
  if (self->hooks.trace) {
    end_us = wall_micros();
    thread = thread_number();
  }
}

void PendingKernel::finish(Status result) {
  note_end(std::move(result));
  if (phase.exchange(done, std::memory_order_acq_rel) == starting)
    return; // whoever started it looks after it
  tell_owner(std::move(self), this);
}

bool StepState::device_is_done() {
  if (!program.device->has_own_memory() || device_wait.phase == DeviceWait::Phase::over)
    return true;
  if (device_wait.phase == DeviceWait::Phase::not_begun) {
    device_wait.phase = DeviceWait::Phase::waiting;
    ++kernels.num_running;
    Stream& stream = environment->stream ? *environment->stream : program.device->stream();
    stream.when_done([state = shared_from_this()](Status result) mutable {
      state->device_wait.status = std::move(result);
      state->device_wait.is_over.store(true, std::memory_order_release);
      tell_owner(std::move(state), nullptr);
    });
  }
  return false;
}

void tell_owner(std::shared_ptr<StepState> state, PendingKernel* kernel) {
  std::shared_ptr<StepState> keep = state; // the hook is called in it
  keep->in_hook.fetch_add(1, std::memory_order_relaxed);
  keep->hooks.completed(keep->hooks.keep_alive.get(), Completion{std::move(state), kernel});
  keep->in_hook.fetch_sub(1, std::memory_order_release);
}

FrameMemory::FrameMemory(const Program& program)
    : root(make_iteration(program, 0)), program_(program), free_iterations_(program.frames.size()) {
  root->frame = &root_frame;
}

FrameMemory::~FrameMemory() {
  if (num_frames_ > 0)
    drop_frames(*root);
  delete_iteration(root, program_.frames[0]);
  for (std::size_t i = 0; i < free_iterations_.size(); ++i)
    while (Iteration* iteration = free_iterations_[i]) {
      free_iterations_[i] = iteration->next_free;
      delete_iteration(iteration, program_.frames[i]);
    }
  while (FrameInstance* frame = free_frames_) {
    free_frames_ = frame->next_free;
    delete frame;
  }
}

Iteration* FrameMemory::take_iteration(std::int32_t layout) {
  const FrameLayout& frame = program_.frames[static_cast<std::size_t>(layout)];
  Iteration*& list = free_iterations_[static_cast<std::size_t>(layout)];
  Iteration* iteration = list;
  if (iteration)
    list = iteration->next_free;
  else
    iteration = make_iteration(program_, static_cast<std::size_t>(layout));
  std::memcpy(static_cast<void*>(iteration->counts),
              &program_.initial[static_cast<std::size_t>(frame.first_node)],
              static_cast<std::size_t>(frame.num_nodes) * sizeof(Counts));
  iteration->outstanding = 0;
  iteration->done = 0;
  iteration->num_children = 0;
  iteration->children = nullptr;
  return iteration;
}

void FrameMemory::free_iteration(Iteration* iteration, bool is_clean) {
  std::int32_t layout = iteration->frame->layout;
  const FrameLayout& frame = program_.frames[static_cast<std::size_t>(layout)];
  if (iteration->done != frame.num_nodes || !is_clean)
    empty_slots(*iteration);
  Iteration*& list = free_iterations_[static_cast<std::size_t>(layout)];
  iteration->next_free = list;
  list = iteration;
}

// All but pre-filled ones, which get their constants.
void FrameMemory::empty_slots(Iteration& iteration) {
  const FrameLayout& layout = program_.frames[static_cast<std::size_t>(iteration.frame->layout)];
  for (std::int32_t i = 0; i < layout.num_slots; ++i) {
    std::int32_t constant = program_.slot_constant[static_cast<std::size_t>(layout.first_slot + i)];
    empty(iteration.slots[i]);
    if (constant >= 0)
      iteration.slots[i].tensor = program_.constants[static_cast<std::size_t>(constant)];
  }
}

FrameInstance* FrameMemory::take_frame() {
  ++num_frames_;
  FrameInstance* frame = free_frames_;
  if (!frame)
    return new FrameInstance;
  free_frames_ = frame->next_free;
  return frame;
}

void FrameMemory::free_frame(FrameInstance* frame) {
  frame->invariants.clear();
  frame->deferred.clear();
  frame->dead_exits.clear();
  frame->next_free = free_frames_;
  free_frames_ = frame;
  --num_frames_;
}

// Iterations that are under way when their step ends hold values.
void FrameMemory::drop_frames(Iteration& iteration) {
  for (FrameInstance* frame = std::exchange(iteration.children, nullptr); frame;) {
    for (std::int64_t i = frame->oldest; i <= frame->newest; ++i) {
      drop_frames(*frame->at(i));
      free_iteration(frame->at(i), false);
    }
    FrameInstance* next = frame->next_sibling;
    free_frame(frame);
    frame = next;
  }
}

void FrameMemory::reset(bool is_clean) {
  if (num_frames_ > 0)
    drop_frames(*root);
  if (!is_clean)
    empty_slots(*root);
  root->outstanding = 0;
  root->num_children = 0;
  root_nodes = 0;
}

PendingKernels::~PendingKernels() {
  for (PendingKernel* list : {free_, first_})
    while (list)
      delete std::exchange(list, list->next);
}

PendingKernel* PendingKernels::take() {
  PendingKernel* kernel = free_;
  if (!kernel)
    return new PendingKernel;
  free_ = kernel->next;
  return kernel;
}

void PendingKernels::free(PendingKernel* kernel) {
  kernel->context.reset();
  kernel->outputs.clear();
  kernel->status = Status{};
  kernel->self.reset();
  kernel->next = free_;
  free_ = kernel;
}

void PendingKernels::link(PendingKernel* kernel) {
  kernel->previous = nullptr;
  kernel->next = first_;
  if (first_)
    first_->previous = kernel;
  first_ = kernel;
  ++num_running;
}

void PendingKernels::unlink(PendingKernel* kernel) {
  (kernel->previous ? kernel->previous->next : first_) = kernel->next;
  if (kernel->next)
    kernel->next->previous = kernel->previous;
  --num_running;
}

void ReadyNodes::clear() {
  flat.clear();
  framed.clear();
  expensive.clear();
  small.clear();
  small_cost = 0;
}

StepState::StepState(const Program& p)
    : program(p), frames(p), scratch(static_cast<std::size_t>(p.max_outputs)),
      may_spread(p.device->compute().threads() > 1) {}

StepState::~StepState() {
  if (crew)
    crew->unref();
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

void StepState::reset(bool clean_slots) {
  frames.reset(clean_slots);
  if (!clean_slots) {
    for (Entry& entry : scratch)
      empty(entry);
    ready.clear();
  }
  kernels.submitted.clear();
  executable.reset();
  environment = nullptr;
  hooks = StepHooks{};
  args.clear();
  retvals.clear();
  late_values.clear();
  status = Status{};
  counters = StepCounters{};
  started = failed = finished = false;
  trace.spans.clear();
  trace.of_stream = nullptr;
  device_wait.phase = DeviceWait::Phase::not_begun;
  device_wait.is_over.store(false, std::memory_order_relaxed);
  device_wait.status = Status{};
}

void StepState::read_late_values() {
  for (const LateValue& late : late_values) {
    Tensor value = late.variable->snapshot();
    if (!value.has_value()) {
      const auto input =
          static_cast<std::size_t>(program.nodes[static_cast<std::size_t>(late.node)].first_input);
      const auto source = static_cast<std::size_t>(program.sources.slots[input].node);
      return fail(late.node, uninitialized_value(program.info[source].name));
    }
    const auto position = program.nodes[static_cast<std::size_t>(late.node)].position;
    retvals[static_cast<std::size_t>(position)] = std::move(value);
  }
}

} // namespace troupe::program
