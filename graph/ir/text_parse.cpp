#include <deque>

#include "core/base/strings.hpp"
#include "graph/ir/internal/text_reader.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"
#include "graph/op/infer.hpp"

namespace troupe {

namespace {

struct InputRef {
  std::string_view name;
  int slot = 0;
  std::size_t position = 0;
};

// One line, read but not yet in the graph.
struct Line {
  std::string_view name;
  std::size_t position = 0;
  const OpSchema* op = nullptr;
  AttrMap attrs;
  std::vector<InputRef> inputs;
  std::vector<InputRef> controls;
  std::string device;
  std::string assigned_device;
  std::optional<NodeTypes> types; // once all attrs are known
  int tries = 0;
  std::size_t unresolved = 0; // inputs of this text whose source has no types yet
};

class Parser {
public:
  Parser(std::string_view text, Graph& graph) : reader_(text), graph_(graph) {}

  Status run() {
    TROUPE_TRY(read_lines());
    TROUPE_TRY(resolve_attrs());
    first_new_ = graph_.capacity();
    Status status = build();
    if (!status.ok())
      for (NodeId id = graph_.capacity(); id-- > first_new_;)
        graph_.remove(id);
    return status;
  }

private:
  static constexpr std::string_view name_chars = "./-\\>";

  Status read_lines() {
    for (reader_.skip(true); !reader_.at_end(); reader_.skip(true)) {
      Line line;
      TROUPE_TRY(read_line(line));
      if (graph_.find(line.name) || !by_name_.emplace(line.name, lines_.size()).second)
        return reader_.error(line.position, str_cat("there is already a node '", line.name, "'"));
      lines_.push_back(std::move(line));
    }
    return {};
  }

  Status read_line(Line& line) {
    line.position = reader_.position();
    TROUPE_ASSIGN(line.name, reader_.word("a node's name", name_chars));
    TROUPE_TRY(reader_.expect("="));
    reader_.skip(false);
    std::size_t at = reader_.position();
    TROUPE_ASSIGN(std::string_view op, reader_.word("an op's name"));
    auto schema = graph_.lookup_op(op);
    if (!schema.ok())
      return reader_.error(at, schema.status().message());
    line.op = *schema;
    if (reader_.take("[")) {
      TROUPE_ASSIGN(line.attrs, reader_.attrs(line.op));
    }
    TROUPE_TRY(reader_.expect("("));
    if (!reader_.take(")")) {
      do {
        TROUPE_TRY(read_input(line.inputs));
      } while (reader_.take(","));
      TROUPE_TRY(reader_.expect(")"));
    }
    for (reader_.skip(false); !reader_.at_line_end(); reader_.skip(false)) {
      if (reader_.take("^")) {
        TROUPE_TRY(read_input(line.controls));
        if (line.controls.back().slot != 0)
          return reader_.error("a control input has no output number");
      } else if (reader_.take("@")) {
        TROUPE_ASSIGN(line.device, reader_.quoted());
      } else if (reader_.take("on ")) {
        TROUPE_ASSIGN(line.assigned_device, reader_.quoted());
      } else {
        return reader_.error("expected the end of the line, ^node, @\"device\" or on \"device\"");
      }
    }
    return {};
  }

  Status read_input(std::vector<InputRef>& out) {
    reader_.skip(false);
    InputRef ref;
    ref.position = reader_.position();
    TROUPE_ASSIGN(ref.name, reader_.word("an input", name_chars));
    if (reader_.peek() == ':') {
      reader_.take(":");
      TROUPE_ASSIGN(std::string_view digits, reader_.word("the number of an output"));
      auto slot = parse_uint(digits);
      if (!slot || *slot > 0x7fffffffu)
        return reader_.error(ref.position,
                             str_cat("'", digits, "' is not the number of an output"));
      ref.slot = static_cast<int>(*slot);
    }
    out.push_back(ref);
    return {};
  }

  // The dtype of an input as far as it is known: invalid if not.
  DType type_of(const InputRef& input) const {
    const std::vector<DType>* outputs = nullptr;
    if (auto at = by_name_.find(input.name); at != by_name_.end()) {
      if (const Line& src = lines_[at->second]; src.types)
        outputs = &src.types->outputs;
    } else if (const Node* node = graph_.find(input.name)) {
      outputs = &node->output_types;
    }
    auto slot = static_cast<std::size_t>(input.slot);
    return outputs && slot < outputs->size() ? (*outputs)[slot] : DType::invalid;
  }

  bool try_to_resolve(Line& line) {
    // Few tries while inputs are unknown, so that a node with many inputs stays cheap.
    if (line.unresolved > 0 && ++line.tries > 4)
      return false;
    std::vector<DType> given;
    bool all = true;
    for (const InputRef& input : line.inputs) {
      given.push_back(type_of(input));
      all = all && given.back() != DType::invalid;
    }
    AttrMap attrs = line.attrs;
    infer_attrs(*line.op, given, attrs);
    for (const AttrDef& def : line.op->attrs)
      if (!attrs.contains(def.name) &&
          (!def.default_value || (!all && is_told_by_inputs(line, def))))
        return false;
    if (!complete_and_check_attrs(*line.op, attrs).ok())
      return false;
    auto types = resolve_types(*line.op, attrs);
    if (!types.ok())
      return false;
    line.attrs = std::move(attrs);
    line.types = *std::move(types);
    return true;
  }

  static bool is_told_by_inputs(const Line& line, const AttrDef& def) {
    for (const ArgDef& arg : line.op->inputs)
      if (arg.type_attr == def.name || arg.type_list_attr == def.name)
        return true;
    return false;
  }

  // Attrs spread from producers to consumers until nothing changes.
  Status resolve_attrs() {
    std::unordered_map<std::size_t, std::vector<std::size_t>> consumers;
    std::deque<std::size_t> ready;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      for (const InputRef& input : lines_[i].inputs)
        if (auto at = by_name_.find(input.name); at != by_name_.end()) {
          consumers[at->second].push_back(i);
          ++lines_[i].unresolved;
        }
    }
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (try_to_resolve(lines_[i]))
        ready.push_back(i);
    for (; !ready.empty(); ready.pop_front())
      for (std::size_t consumer : consumers[ready.front()]) {
        Line& line = lines_[consumer];
        --line.unresolved;
        if (!line.types && try_to_resolve(line))
          ready.push_back(consumer);
      }
    for (Line& line : lines_) {
      if (line.types)
        continue;
      std::vector<DType> given;
      for (const InputRef& input : line.inputs)
        given.push_back(type_of(input));
      infer_attrs(*line.op, given, line.attrs);
      if (Status status = complete_and_check_attrs(*line.op, line.attrs); !status.ok())
        return reader_.error(line.position, str_cat("node '", line.name, "': ", status.message()));
    }
    return {};
  }

  Status build() {
    for (Line& line : lines_) {
      auto added = graph_.add_unconnected(line.name, *line.op, std::move(line.attrs));
      if (!added.ok())
        return reader_.error(line.position, added.status().message());
      (*added)->device = std::move(line.device);
      (*added)->assigned_device = std::move(line.assigned_device);
      if (line.inputs.size() != (*added)->inputs.size())
        return reader_.error(line.position,
                             str_cat("node '", line.name, "' has ", line.inputs.size(),
                                     " inputs, and its op and attrs say ", (*added)->inputs.size(),
                                     ": ", line.op->signature()));
    }
    for (std::size_t i = 0; i < lines_.size(); ++i)
      TROUPE_TRY(connect(lines_[i], *graph_.node(first_new_ + static_cast<NodeId>(i))));
    auto order = graph_.topological_order();
    return order.ok() ? Status() : order.status();
  }

  Status connect(const Line& line, Node& node) {
    for (std::size_t i = 0; i < line.inputs.size(); ++i) {
      const InputRef& input = line.inputs[i];
      TROUPE_ASSIGN(const Node* src, source(input));
      if (input.slot >= src->num_outputs())
        return reader_.error(input.position, str_cat("node '", src->name, "' (", src->op_name(),
                                                     ") has ", src->num_outputs(), " outputs"));
      int slot = static_cast<int>(i);
      if (Status status = check_edge_types(*src, input.slot, node, slot); !status.ok())
        return reader_.error(input.position, status.message());
      graph_.set_input(node.id, slot, {src->id, input.slot});
    }
    for (const InputRef& control : line.controls) {
      TROUPE_ASSIGN(const Node* src, source(control));
      graph_.add_control_edge(src->id, node.id);
    }
    return {};
  }

  Result<const Node*> source(const InputRef& input) const {
    if (const Node* src = graph_.find(input.name))
      return src;
    return reader_.error(input.position, str_cat("there is no node '", input.name, "'"));
  }

  TextReader reader_;
  Graph& graph_;
  std::vector<Line> lines_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  NodeId first_new_ = 0;
};

} // namespace

Result<Graph> parse_graph(std::string_view text, const OpRegistry& registry) {
  Graph graph(registry);
  TROUPE_TRY(Parser(text, graph).run());
  return graph;
}

Status parse_into(std::string_view text, Graph& graph) {
  return Parser(text, graph).run();
}

} // namespace troupe
