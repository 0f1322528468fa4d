// The loop machinery: Enter, Exit, NextIteration, and when iterations and frames end.
#pragma once

#include "actors/executor/internal/loop.hpp"

namespace troupe::program {

// Equal on every device that runs a part of the loop, since it is part of the keys under which they
// exchange values; TensorFlow's formula, since one of them may be a task of its own. Never 0: that
// is the root.
inline std::uint64_t frame_id(std::uint64_t parent, std::int64_t iteration,
                              std::uint64_t name_hash) {
  auto combine = [](std::uint64_t a, std::uint64_t b) {
    return a ^ (b + 0x9e3779b97f4a7800u + (a << 10) + (a >> 4));
  };
  const std::uint64_t id =
      combine(parent, combine(static_cast<std::uint64_t>(iteration), name_hash));
  return id ? id : 1;
}

inline bool is_done(FrameInstance& frame, std::int64_t number) {
  const Iteration& iteration = *frame.at(number);
  return iteration.outstanding == 0 && iteration.num_children == 0 && frame.oldest == number &&
         (number > 0 || frame.missing_enters == 0);
}

template <bool Frames>
FrameInstance& Loop<Frames>::child(Iteration& iteration, std::int32_t layout) {
  for (FrameInstance* frame = iteration.children; frame; frame = frame->next_sibling)
    if (frame->layout == layout)
      return *frame;
  const FrameLayout& shape = p_.frames[static_cast<std::size_t>(layout)];
  FrameInstance& frame = *s_.frames.take_frame();
  frame.layout = layout;
  frame.parent = &iteration;
  frame.id = frame_id(iteration.frame->id, iteration.number, shape.name_hash);
  frame.missing_enters = shape.num_enters;
  frame.given_exits.assign(static_cast<std::size_t>(shape.num_exits), false);
  frame.oldest = 0;
  frame.newest = -1;
  frame.next_sibling = iteration.children;
  iteration.children = &frame;
  ++iteration.num_children;
  begin_iteration(frame);
  return frame;
}

template <bool Frames>
Iteration* Loop<Frames>::begin_iteration(FrameInstance& frame) {
  auto live = static_cast<std::size_t>(frame.num_iterations());
  if (live == frame.iterations.size()) {
    std::vector<Iteration*> larger(live ? live * 2 : 2);
    for (std::int64_t i = frame.oldest; i <= frame.newest; ++i)
      larger[static_cast<std::size_t>(i) & (larger.size() - 1)] = frame.at(i);
    frame.iterations.swap(larger);
  }
  Iteration* iteration = s_.frames.take_iteration(frame.layout);
  iteration->frame = &frame;
  iteration->number = ++frame.newest;
  frame.at(iteration->number) = iteration;
  ++s_.counters.iterations;
  frame.dead_exits.clear();
  for (HeldValue& held : frame.deferred) {
    send_value(node_at(held.node), 0, held.value, *iteration);
  }
  frame.deferred.clear();
  for (const HeldValue& held : frame.invariants)
    deliver(held, *iteration, false);
  return iteration;
}

template <bool Frames>
void Loop<Frames>::deliver(const HeldValue& held, Iteration& iteration, bool from_enter) {
  if (!held.value.has_value())
    return send_dead(node_at(held.node), iteration, from_enter);
  Entry value = held.value;
  send_value(node_at(held.node), 0, value, iteration, from_enter);
}

template <bool Frames>
void Loop<Frames>::run_enter(std::int32_t n, const ProgramNode& node, Iteration& iteration,
                             bool dead) {
  FrameInstance& frame = child(iteration, node.opened_frame);
  Iteration& first = *frame.at(0); // alive as long as an Enter is missing
  if (node.flags & invariant) {
    HeldValue& held = frame.invariants.emplace_back();
    held.node = n;
    if (!dead)
      held.value = std::move(*slot(node.first_input, iteration));
    for (std::int64_t i = frame.oldest; i <= frame.newest; ++i)
      deliver(frame.invariants.back(), *frame.at(i), true);
  } else if (dead) {
    send_dead(node, first, true);
  } else {
    send_value(node, 0, *slot(node.first_input, iteration), first, true);
  }
  clear_inputs(node, iteration);
  if (--frame.missing_enters == 0 && first.outstanding == 0)
    clean_up(&first);
}

template <bool Frames>
void Loop<Frames>::run_exit(std::int32_t n, const ProgramNode& node, Iteration& iteration) {
  FrameInstance& frame = *iteration.frame;
  auto given = frame.given_exits.begin() + node.exit_number;
  if (*given) {
    const std::string& loop = p_.frames[static_cast<std::size_t>(frame.layout)].name;
    return s_.fail(n, invalid_argument(str_cat(
                          "Exit '", info(n).name, "' of the loop '", loop,
                          "' gets a second value, in iteration ", iteration.number,
                          "; a loop gives each value once: let a Switch by the loop's condition "
                          "come before the Exit")));
  }
  *given = true;
  send_value(node, 0, *slot(node.first_input, iteration), *iteration.frame->parent);
  clear_inputs(node, iteration);
}

template <bool Frames>
void Loop<Frames>::run_next_iteration(std::int32_t n, const ProgramNode& node,
                                      Iteration& iteration) {
  FrameInstance& frame = *iteration.frame;
  Entry& value = *slot(node.first_input, iteration);
  bool newest = iteration.number == frame.newest;
  if (newest && frame.num_iterations() >=
                    p_.frames[static_cast<std::size_t>(frame.layout)].parallel_iterations) {
    frame.deferred.push_back({n, std::move(value)});
    clear_inputs(node, iteration);
    return;
  }
  Iteration* next = newest ? begin_iteration(frame) : frame.at(iteration.number + 1);
  send_value(node, 0, value, *next);
  clear_inputs(node, iteration);
}

template <bool Frames>
void Loop<Frames>::clean_up(Iteration* iteration) {
  while (iteration->frame != &s_.frames.root_frame) {
    FrameInstance* frame = iteration->frame;
    for (std::int64_t i = iteration->number; i <= frame->newest && is_done(*frame, i); ++i) {
      s_.frames.free_iteration(frame->at(i), !s_.failed);
      frame->oldest = i + 1;
      if (!frame->deferred.empty())
        begin_iteration(*frame);
    }
    if (frame->missing_enters > 0 || frame->num_iterations() > 0)
      return;
    iteration = frame->parent;
    delete_frame(frame);
  }
}

// An Exit that never gave a value gives a dead one outside of its loop.
template <bool Frames>
void Loop<Frames>::delete_frame(FrameInstance* frame) {
  Iteration& parent = *frame->parent;
  for (std::int32_t n : frame->dead_exits)
    if (!frame->given_exits[static_cast<std::size_t>(node_at(n).exit_number)])
      send_dead(node_at(n), parent);
  FrameInstance** link = &parent.children;
  while (*link != frame)
    link = &(*link)->next_sibling;
  *link = frame->next_sibling;
  --parent.num_children;
  s_.frames.free_frame(frame);
}

} // namespace troupe::program
