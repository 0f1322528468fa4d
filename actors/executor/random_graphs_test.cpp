#include <doctest/doctest.h>

#include <optional>
#include <random>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using testing::Rig;

namespace {

// Output values of a node; none: dead.
using Values = std::vector<std::optional<std::int64_t>>;

struct RandomNode {
  std::string op;
  std::vector<std::pair<int, int>> inputs; // node, output
  std::vector<int> controls;
};

// Acyclic graphs over int64 values: arithmetic, Switch and Merge, control edges, constants,
// kernels that finish at once, later, elsewhere.
struct RandomGraph {
  explicit RandomGraph(std::uint32_t seed) : random(seed) {
    nodes.push_back({"_Arg", {}, {}});
    nodes.push_back({"_Arg", {}, {}});
    int count = 2 + pick(60);
    while (static_cast<int>(nodes.size()) < count)
      add();
  }

  int pick(int below) { return static_cast<int>(random() % static_cast<std::uint32_t>(below)); }
  std::pair<int, int> some_value() {
    for (;;) {
      int n = pick(static_cast<int>(nodes.size()));
      const std::string& op = nodes[static_cast<std::size_t>(n)].op;
      if (op != "NoOp" && op != "ControlTrigger" && op != "Less")
        return {n, op == "Switch" ? pick(2) : 0};
    }
  }

  void add() {
    static const std::vector<std::string> ops = {
        "Neg",       "AddV2", "AddV2", "Sub",    "Maximum", "Identity", "Costly",        "AtOnce",
        "Elsewhere", "Const", "NoOp",  "Switch", "Switch",  "Merge",    "ControlTrigger"};
    RandomNode node;
    node.op = ops[static_cast<std::size_t>(pick(static_cast<int>(ops.size())))];
    if (node.op == "Switch") {
      nodes.push_back({"Less", {some_value(), some_value()}, {}});
      node.inputs = {some_value(), {static_cast<int>(nodes.size()) - 1, 0}};
    } else if (node.op == "Merge") {
      // The two sides of a Switch, so that one value at most arrives.
      RandomNode& choice = nodes.emplace_back();
      choice = {"Less", {}, {}};
      auto a = some_value_before(nodes.size() - 1), b = some_value_before(nodes.size() - 1);
      nodes.back().inputs = {a, b};
      int predicate = static_cast<int>(nodes.size()) - 1;
      nodes.push_back({"Switch", {some_value_before(nodes.size() - 1), {predicate, 0}}, {}});
      int side = static_cast<int>(nodes.size()) - 1;
      nodes.push_back({"Neg", {{side, 0}}, {}});
      nodes.push_back({pick(2) ? "Elsewhere" : "Identity", {{side, 1}}, {}});
      node.inputs = {{side + 1, 0}, {side + 2, 0}};
    } else if (node.op == "AddV2" || node.op == "Sub" || node.op == "Maximum") {
      node.inputs = {some_value(), some_value()};
    } else if (node.op != "NoOp" && node.op != "Const" && node.op != "ControlTrigger") {
      node.inputs = {some_value()};
    }
    if (pick(4) == 0)
      node.controls.push_back(pick(static_cast<int>(nodes.size())));
    if (node.op == "ControlTrigger") {
      nodes.push_back(node);
      node = {"Const", {}, {static_cast<int>(nodes.size()) - 1}};
    }
    nodes.push_back(node);
  }

  std::pair<int, int> some_value_before(std::size_t end) {
    for (;;) {
      auto value = some_value();
      if (static_cast<std::size_t>(value.first) < end)
        return value;
    }
  }

  std::string name(int n) const { return str_cat("n", n); }

  // The plain meaning of the graph: one node after the other.
  std::vector<Values> evaluate(std::int64_t x, std::int64_t y) const {
    std::vector<Values> out;
    auto unsigned_of = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    std::vector<bool> alive;
    for (const RandomNode& node : nodes) {
      std::vector<std::optional<std::int64_t>> in;
      for (auto [n, slot] : node.inputs)
        in.push_back(out[static_cast<std::size_t>(n)][static_cast<std::size_t>(slot)]);
      bool live = true;
      for (int control : node.controls)
        live = live && alive[static_cast<std::size_t>(control)];
      if (node.op == "ControlTrigger")
        live = true;
      Values values;
      if (node.op == "Merge") {
        values = {in[0] ? in[0] : in[1]};
        live = values[0].has_value();
      } else {
        for (const auto& value : in)
          live = live && value;
        if (!live) {
          values = {std::nullopt, std::nullopt};
        } else if (node.op == "_Arg") {
          values = {out.empty() ? x : y};
        } else if (node.op == "Const") {
          values = {5};
        } else if (node.op == "Neg") {
          values = {static_cast<std::int64_t>(-unsigned_of(*in[0]))};
        } else if (node.op == "AddV2") {
          values = {static_cast<std::int64_t>(unsigned_of(*in[0]) + unsigned_of(*in[1]))};
        } else if (node.op == "Sub") {
          values = {static_cast<std::int64_t>(unsigned_of(*in[0]) - unsigned_of(*in[1]))};
        } else if (node.op == "Maximum") {
          values = {std::max(*in[0], *in[1])};
        } else if (node.op == "Less") {
          values = {*in[0] < *in[1] ? 1 : 0};
        } else if (node.op == "Switch") {
          values = *in[1] ? Values{std::nullopt, in[0]} : Values{in[0], std::nullopt};
        } else {
          values = {in.empty() ? 0 : *in[0]};
        }
      }
      alive.push_back(live);
      out.push_back(std::move(values));
    }
    return out;
  }

  // All live values are fetched.
  std::string text(const std::vector<Values>& values, std::vector<std::int64_t>& expected) const {
    std::string out;
    for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
      const RandomNode& node = nodes[static_cast<std::size_t>(n)];
      str_append(out, name(n), " = ", node.op);
      if (node.op == "_Arg")
        str_append(out, "[T=DT_INT64, index=", n, "]");
      if (node.op == "Const")
        out += "[dtype=DT_INT64, value=i64[] 5]";
      out += "(";
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        str_append(out, i ? ", " : "", name(node.inputs[i].first), ":", node.inputs[i].second);
      out += ")";
      for (int control : node.controls)
        str_append(out, " ^", name(control));
      out += "\n";
      if (node.op == "NoOp" || node.op == "ControlTrigger" || node.op == "Less")
        continue;
      const Values& of_node = values[static_cast<std::size_t>(n)];
      for (std::size_t slot = 0; slot < of_node.size(); ++slot)
        if (of_node[slot]) {
          str_append(out, "r", expected.size(), " = _Retval[index=", expected.size(), "](", name(n),
                     ":", slot, ")\n");
          expected.push_back(*of_node[slot]);
        }
    }
    return out;
  }

  std::mt19937 random;
  std::vector<RandomNode> nodes;
};

} // namespace

TEST_CASE("random graphs: a step gives what evaluating one node after the other gives") {
  Rig rig(2);
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    CAPTURE(seed);
    RandomGraph graph(seed);
    std::vector<std::int64_t> expected;
    std::int64_t x = graph.pick(20) - 10, y = graph.pick(20) - 10;
    std::string text = graph.text(graph.evaluate(x, y), expected);
    CAPTURE(text);
    auto executable = rig.compile(text);
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto outcome = rig.run(executable, {Tensor::scalar(x), Tensor::scalar(y)});
      REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
      REQUIRE(outcome.retvals.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE(outcome.retvals[i].value<std::int64_t>() == expected[i]);
    }
  }
}
