#include "actors/graph_manager/watches.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/strings.hpp"
#include "graph/partition/frames.hpp"

namespace troupe {

namespace {

/// "DebugNumericSummary(lower_bound=-1; mute_if_healthy=true)"
struct DebugOp {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attrs;
};

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

Result<DebugOp> parse_debug_op(const std::string& text) {
  const std::size_t open = text.find('('), close = text.find(')');
  if (open == text.npos && close == text.npos)
    return DebugOp{text, {}};
  if (open == text.npos || open == 0 || close + 1 != text.size())
    return invalid_argument(str_cat("Malformed debug op name \"", text, "\""));
  DebugOp out{text.substr(0, open), {}};
  for (std::string_view part :
       str_split(std::string_view(text).substr(open + 1, close - open - 1), ';')) {
    part = trimmed(part);
    if (part.empty())
      continue;
    const std::size_t equals = part.find('=');
    if (equals == part.npos || equals == 0 || equals + 1 == part.size())
      return invalid_argument(str_cat("Malformed attributes in debug op name \"", text, "\""));
    std::string key(part.substr(0, equals));
    if (std::ranges::any_of(out.attrs, [&](const auto& known) { return known.first == key; }))
      return invalid_argument(
          str_cat("Duplicate attribute name \"", key, "\" found in the debug op: \"", text, "\""));
    out.attrs.emplace_back(std::move(key), std::string(part.substr(equals + 1)));
  }
  return out;
}

Result<AttrValue> attr_of(const AttrDef& attr, const std::string& text, const std::string& node) {
  auto invalid = [&](std::string_view type) {
    return invalid_argument(str_cat("Invalid value string for ", type, "-type attribute ",
                                    attr.name, " of debug node ", node, ": \"", text, "\""));
  };
  char* end = nullptr;
  switch (attr.type.list ? AttrKind::tensor : attr.type.kind) {
  case AttrKind::string:
    return AttrValue(text);
  case AttrKind::real: {
    const float value = std::strtof(text.c_str(), &end);
    return *end ? Result<AttrValue>(invalid("float")) : AttrValue(value);
  }
  case AttrKind::integer: {
    const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
    return *end ? Result<AttrValue>(invalid("int")) : AttrValue(value);
  }
  case AttrKind::boolean: {
    std::string lower = text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const bool yes = lower == "true" || lower == "t" || lower == "1";
    if (!yes && lower != "false" && lower != "f" && lower != "0")
      return invalid("bool");
    return AttrValue(yes);
  }
  default:
    return invalid_argument(
        str_cat("Unsupported type of custom attribute for debug ops: attribute ", attr.name,
                " of debug node ", node));
  }
}

struct Output {
  NodeId node = -1;
  int slot = 0;
  std::string name; ///< "x:0"
};

class Inserter {
public:
  Inserter(Graph& graph, const std::string& device, const KernelRegistry& kernels)
      : graph_(graph), device_(device), kernels_(kernels) {}

  Status run(const std::vector<DebugWatch>& watches) {
    TROUPE_TRY(read(watches));
    if (by_tensor_.empty() && !all_)
      return {};
    for (const Output& output : outputs()) {
      auto found = by_tensor_.find(output.name);
      const DebugWatch* watch = found != by_tensor_.end() ? found->second : all_ ? &*all_ : nullptr;
      if (watch)
        TROUPE_TRY(insert(output, *watch));
    }
    for (Node* node : graph_.nodes()) // of two iterations nobody could tell which value is whose
      if (is_enter(*node))
        node->attrs.set("parallel_iterations", std::int64_t{1});
    return {};
  }

private:
  Status read(const std::vector<DebugWatch>& watches) {
    for (const DebugWatch& watch : watches) {
      if (watch.ops.empty() || watch.urls.empty())
        continue;
      if (watch.node == "*") {
        if (watch.slot != -1)
          return failed_precondition(
              str_cat("output_slot is expected to be -1 for wildcard node name "
                      "(\"*\"), but got ",
                      watch.slot));
        if (!all_) {
          all_ = watch;
        } else {
          all_->ops.insert(all_->ops.end(), watch.ops.begin(), watch.ops.end());
          all_->urls.insert(all_->urls.end(), watch.urls.begin(), watch.urls.end());
        }
      } else if (watch.slot < 0) {
        return failed_precondition(
            str_cat("A negative output_slot in DebugTensorWatch is valid only "
                    "for the wildcard node name (\"*\"), but got node name ",
                    watch.node));
      } else {
        by_tensor_[str_cat(watch.node, ":", watch.slot)] = &watch;
      }
    }
    return {};
  }

  std::vector<Output> outputs() const {
    std::vector<Output> out;
    for (const Node* node : graph_.nodes())
      for (int slot = 0; slot < node->num_outputs(); ++slot)
        out.push_back({node->id, slot, str_cat(node->name, ":", slot)});
    return out;
  }

  Status insert(const Output& output, const DebugWatch& watch) {
    const Node& source = *graph_.node(output.node);
    const bool holds_up = !is_enter(source) && !is_next_iteration(source);
    std::vector<NodeId> readers;
    for (const OutEdge& edge : source.outs)
      if (!edge.is_control() && edge.src_slot == output.slot &&
          std::ranges::find(readers, edge.dst) == readers.end())
        readers.push_back(edge.dst);
    for (std::size_t i = 0; i < watch.ops.size(); ++i) {
      auto added = add(output, watch, i);
      if (!added.ok()) {
        if (watch.tolerates_failures)
          continue;
        return failed_precondition(str_cat("Failed to create debug node ", watch.ops[i],
                                           " for tensor ", output.name,
                                           ", due to: ", added.status().message()));
      }
      if (holds_up)
        for (NodeId reader : readers)
          graph_.add_control_edge(*added, reader);
    }
    return {};
  }

  Result<NodeId> add(const Output& output, const DebugWatch& watch, std::size_t number) {
    TROUPE_ASSIGN(const DebugOp op, parse_debug_op(watch.ops[number]));
    const std::string name = str_cat("__dbg_", output.name, "_", number, "_", op.name);
    const Node& source = *graph_.node(output.node);
    const DType dtype = remove_ref(source.output_types[static_cast<std::size_t>(output.slot)]);
    AttrMap attrs{{"T", dtype},
                  {"device_name", device_},
                  {"tensor_name", output.name},
                  {"debug_urls", watch.urls}};
    auto schema = op.name.starts_with("Debug") ? graph_.registry().lookup(op.name)
                                               : Result<const OpSchema*>(not_found(""));
    if (!schema.ok())
      return failed_precondition(str_cat("Failed to create node definition for debug op ", op.name,
                                         " on watched tensor ", output.name));
    std::vector<std::string> unknown;
    for (const auto& [key, text] : op.attrs) {
      auto attr = std::ranges::find((*schema)->attrs, key, &AttrDef::name);
      if (attr == (*schema)->attrs.end()) {
        unknown.push_back(key);
        continue;
      }
      TROUPE_ASSIGN(AttrValue value, attr_of(*attr, text, name));
      attrs.set(key, std::move(value));
    }
    if (!unknown.empty())
      return invalid_argument(str_cat(unknown.size(),
                                      " attribute key(s) were not valid for debug node ", name,
                                      ": ", str_join(unknown, ", ")));
    auto added = graph_.add(graph_.unique_name(name), op.name, {{output.node, output.slot}}, attrs);
    if (!added.ok())
      return added.status();
    (*added)->assigned_device = device_;
    if (kernels_.device_types(op.name, (*added)->attrs).empty()) {
      graph_.remove((*added)->id);
      return failed_precondition(str_cat("Failed to find kernel definition for debug op ", op.name,
                                         " on watched tensor ", output.name));
    }
    return (*added)->id;
  }

  Graph& graph_;
  const std::string& device_;
  const KernelRegistry& kernels_;
  std::map<std::string, const DebugWatch*> by_tensor_;
  std::optional<DebugWatch> all_;
};

} // namespace

Status insert_watches(Graph& graph, const std::string& device,
                      const std::vector<DebugWatch>& watches, const KernelRegistry& kernels) {
  return Inserter(graph, device, kernels).run(watches);
}

std::vector<std::string> urls_of(const std::vector<DebugWatch>& watches) {
  std::vector<std::string> out;
  for (const DebugWatch& watch : watches)
    for (const std::string& url : watch.urls)
      if (std::ranges::find(out, url) == out.end())
        out.push_back(url);
  return out;
}

} // namespace troupe
