// What a step holds when its memory has run out, and what a traced step says of values.
#include <algorithm>
#include <map>
#include <set>

#include "actors/executor/internal/step_state.hpp"
#include "core/base/strings.hpp"

namespace troupe::program {

namespace {

constexpr std::size_t max_named = 10; // nodes

std::string size_text(std::int64_t bytes) {
  constexpr std::pair<const char*, int> units[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
  for (auto [unit, shift] : units)
    if (bytes >= std::int64_t{1} << shift) {
      char text[32];
      std::snprintf(text, sizeof text, "%.1f%s",
                    static_cast<double>(bytes) / (std::int64_t{1} << shift), unit);
      return text;
    }
  return str_cat(bytes, "B");
}

/// Bytes by the node that made them; a buffer counts once.
class Holdings {
public:
  explicit Holdings(const Program& program) : program_(program) {}

  void add(const Iteration& iteration) {
    const FrameLayout& layout = program_.frames[static_cast<std::size_t>(iteration.frame->layout)];
    for (std::int32_t i = 0; i < layout.num_slots; ++i)
      add(layout.first_slot + i, iteration.slots[i].tensor);
    for (const FrameInstance* child = iteration.children; child; child = child->next_sibling) {
      for (std::int64_t n = child->oldest; n <= child->newest; ++n)
        add(*child->iterations[static_cast<std::size_t>(n) & (child->iterations.size() - 1)]);
      for (const auto* held : {&child->invariants, &child->deferred})
        for (const HeldValue& value : *held)
          add(value.value.tensor, program_.info[static_cast<std::size_t>(value.node)].name);
    }
  }

  std::vector<std::pair<std::int64_t, std::string>> largest_first() const {
    std::vector<std::pair<std::int64_t, std::string>> out;
    for (const auto& [node, bytes] : bytes_)
      out.emplace_back(bytes, node);
    std::ranges::sort(out, std::greater{});
    return out;
  }

private:
  void add(std::int32_t slot, const Tensor& value) {
    const auto at = static_cast<std::size_t>(slot);
    if (const std::int32_t constant = program_.slot_constant[at]; constant >= 0)
      add(value, program_.constant_nodes[static_cast<std::size_t>(constant)]);
    else if (const std::int32_t node = program_.sources.slots[at].node; node >= 0)
      add(value, program_.info[static_cast<std::size_t>(node)].name);
  }
  void add(const Tensor& value, const std::string& node) {
    if (value.has_value() && value.byte_size() > 0 && seen_.insert(value.raw()).second)
      bytes_[node] += static_cast<std::int64_t>(value.byte_size());
  }

  const Program& program_;
  std::set<const void*> seen_;
  std::map<std::string, std::int64_t> bytes_;
};

} // namespace

OutputStats describe(std::int32_t slot, const Tensor& value) {
  OutputStats out{slot, value.dtype(), {}, static_cast<std::int64_t>(value.byte_size())};
  if (value.buffer())
    out.allocated = static_cast<std::int64_t>(value.buffer()->bytes());
  out.address = reinterpret_cast<std::uintptr_t>(value.raw());
  out.is_alone = value.is_unique();
  out.dims.assign(value.shape().dims().begin(), value.shape().dims().end());
  return out;
}

std::string StepState::held_values() const {
  std::string out = str_cat("\n\nCurrent usage from device: ", program.device->name(), "\n");
  if (crew && crew->num_out() > 0) // other threads write values just now
    return out + "  not told: other kernels of the step are running\n";
  Holdings holdings(program);
  holdings.add(*frames.root);
  const auto nodes = holdings.largest_first();
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (i < max_named)
      str_append(out, "  ", size_text(nodes[i].first), " from ", nodes[i].second, "\n");
    else
      rest += nodes[i].first;
  if (nodes.size() > max_named)
    str_append(out, "  Remaining ", nodes.size() - max_named, " nodes with ", size_text(rest),
               "\n");
  if (nodes.empty())
    out += "  the step holds no values; variables and other steps do\n";
  return out;
}

} // namespace troupe::program
