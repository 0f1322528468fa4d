#include "graph/functions/needed.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

// What is known to be needed, and of that what has not been looked into.
class Closure {
public:
  explicit Closure(const FunctionLibrary& library) : library_(library) {}

  void add(const std::string& name) {
    if (library_.find(name) && names_.insert(name).second)
      open_.push_back(name);
  }

  void close() {
    while (!open_.empty()) {
      const std::string name = std::move(open_.back());
      open_.pop_back();
      for (const std::string& mentioned : library_.find(name)->mentions)
        add(mentioned);
      if (auto at = library_.gradients().find(name); at != library_.gradients().end())
        add(at->second);
    }
  }

  const std::set<std::string, std::less<>>& names() const { return names_; }

private:
  const FunctionLibrary& library_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> open_;
};

bool has_function_attrs(const OpSchema& op) {
  return std::ranges::any_of(
      op.attrs, [](const AttrDef& attr) { return attr.type.kind == AttrKind::function; });
}

} // namespace

void append_functions(const AttrValue& value, std::vector<FunctionRef>& to) {
  const auto add = [&](const FunctionRef& function) {
    to.push_back(function);
    if (function.attrs)
      for (const auto& [name, inner] : *function.attrs)
        append_functions(inner, to);
  };
  if (const auto* one = std::get_if<FunctionRef>(&value))
    add(*one);
  else if (const auto* several = std::get_if<std::vector<FunctionRef>>(&value))
    std::ranges::for_each(*several, add);
}

std::shared_ptr<const FunctionLibrary> needed_functions(const Graph& graph) {
  if (!graph.functions)
    return nullptr;
  Closure closure(*graph.functions);
  const OpSchema* last = nullptr; // neighbours often have one op
  bool has_functions = false;
  for (NodeId id = 0; id < graph.capacity(); ++id) {
    const Node* node = graph.node(id);
    if (!node)
      continue;
    if (node->op != last) {
      last = node->op;
      has_functions = has_function_attrs(*last);
      closure.add(last->name);
    }
    if (!has_functions)
      continue;
    std::vector<FunctionRef> named;
    for (const auto& [name, value] : node->attrs)
      append_functions(value, named);
    for (const FunctionRef& function : named)
      closure.add(function.name);
  }
  closure.close();
  if (closure.names().empty())
    return nullptr;
  if (closure.names().size() == graph.functions->functions().size())
    return graph.functions;
  auto out = std::make_shared<FunctionLibrary>();
  for (const auto& [name, function] : graph.functions->functions())
    if (closure.names().contains(name))
      (void)out->add(function); // was in a library
  for (const auto& [function, gradient] : graph.functions->gradients())
    if (closure.names().contains(function))
      (void)out->set_gradient(function, gradient);
  return out;
}

} // namespace troupe
