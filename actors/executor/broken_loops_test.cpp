// Loops that no front end would make: whatever a graph says, its step ends or can be cancelled, and
// gives back all its memory.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"
#include "graph/ir/text.hpp"

using namespace troupe;
using testing::Rig;

namespace {

// Correct while loops, one within or after the other, with conditionals in their bodies; then some
// inputs, attributes and nodes are changed. Each loop counts an int64 to a bound and keeps others.
class LoopGraph {
public:
  explicit LoopGraph(std::uint32_t seed) : random_(seed) {
    values_ = {"x", "y", "big"};
    lines_ = {{"x", "_Arg", "[T=DT_INT64, index=0]", {}},
              {"y", "_Arg", "[T=DT_INT64, index=1]", {}},
              {"big", "Const", "[dtype=DT_INT64, value=i64[] 7]", {}}};
    for (int i = 1 + pick(2); i > 0; --i)
      add_loop(pick(3) == 0 ? 2 : 1);
    lines_.push_back({"r", "_Retval", "[index=0]", {values_.back()}});
    for (int i = pick(4); i > 0; --i)
      mutate();
  }

  std::string text() const {
    std::string out;
    for (const Line& line : lines_) {
      str_append(out, line.name, " = ", line.op, line.attrs, "(", str_join(line.inputs, ", "), ")");
      for (const std::string& control : line.controls)
        str_append(out, " ^", control);
      out += "\n";
    }
    return out;
  }

private:
  struct Line {
    std::string name, op, attrs;
    std::vector<std::string> inputs, controls = {};
  };

  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }
  const std::string& some(const std::vector<std::string>& of) {
    return of[static_cast<std::size_t>(pick(static_cast<int>(of.size())))];
  }
  std::string add(std::string op, std::vector<std::string> inputs, std::string attrs = {}) {
    std::string name = str_cat("n", lines_.size());
    lines_.push_back({name, std::move(op), std::move(attrs), std::move(inputs), {}});
    return name;
  }

  // Leaves the loop's results in values_.
  void add_loop(int depth) {
    const std::string frame =
        str_cat("[frame_name=\"f", lines_.size(), "\", parallel_iterations=", 1 + pick(4));
    const int variables = 1 + pick(3);
    auto enter = [&](const std::string& value, bool constant) {
      return add("Enter", {value}, str_cat(frame, constant ? ", is_constant=true]" : "]"));
    };
    std::string bound = add("Const", {}, str_cat("[dtype=DT_INT64, value=i64[] ", pick(6), "]"));
    std::string zero = add("Const", {}, "[dtype=DT_INT64, value=i64[] 0]");
    std::string one = add("Const", {}, "[dtype=DT_INT64, value=i64[] 1]");
    std::string bound_in = enter(bound, true), one_in = enter(one, true);
    std::vector<std::string> entered = {enter(zero, false)};
    for (int i = 0; i < variables; ++i)
      entered.push_back(enter(some(values_), false));
    std::vector<std::string> merged;
    std::vector<std::size_t> merge_lines;
    for (const std::string& value : entered) {
      merge_lines.push_back(lines_.size());
      merged.push_back(add("Merge", {value, value})); // the second is the NextIteration, below
    }
    std::string cond = add("LoopCond", {add("Less", {merged[0], bound_in})});
    std::vector<std::string> inside, exits;
    for (const std::string& value : merged) {
      std::string side = add("Switch", {value, cond});
      inside.push_back(add("Identity", {str_cat(side, ":1")}));
      exits.push_back(add("Exit", {str_cat(side, ":0")}));
    }
    std::vector<std::string> before = std::exchange(values_, inside);
    if (depth > 1)
      add_loop(depth - 1);
    for (int i = pick(3); i > 0; --i)
      values_.push_back(add_body());
    for (std::size_t i = 0; i < merged.size(); ++i) {
      std::string next = i == 0 ? add("AddV2", {inside[0], one_in}) : some(values_);
      lines_[merge_lines[i]].inputs[1] = add("NextIteration", {next});
    }
    values_ = std::move(before);
    values_.insert(values_.end(), exits.begin(), exits.end());
  }

  std::string add_body() {
    static const std::vector<std::string> ops = {"AddV2", "Sub", "Neg", "Costly", "AtOnce", "cond"};
    std::string op = some(ops);
    if (op == "cond") {
      std::string side =
          add("Switch", {some(values_), add("Less", {some(values_), some(values_)})});
      std::string taken = add("Neg", {str_cat(side, ":1")});
      return add("Merge", {side, taken});
    }
    if (op == "AddV2" || op == "Sub")
      return add(op, {some(values_), some(values_)});
    return add(op, {some(values_)});
  }

  void mutate() {
    Line& line = lines_[static_cast<std::size_t>(pick(static_cast<int>(lines_.size())))];
    const Line& other = lines_[static_cast<std::size_t>(pick(static_cast<int>(lines_.size())))];
    switch (pick(5)) {
    case 0:
    case 1:
      if (!line.inputs.empty())
        line.inputs[static_cast<std::size_t>(pick(static_cast<int>(line.inputs.size())))] =
            other.op == "Switch" && pick(2) ? other.name + ":1" : other.name;
      break;
    case 2: // past the node: an Exit that hangs on the Merge is one of these
      for (Line& reader : lines_)
        for (std::string& input : reader.inputs)
          if ((input == line.name || input.starts_with(line.name + ":")) && !line.inputs.empty())
            input = line.inputs[0];
      break;
    case 3:
      if (line.op != "_Arg")
        line.controls.push_back(other.name);
      break;
    default:
      static const std::vector<std::string> passing = {"Identity", "Exit",     "NextIteration",
                                                       "Neg",      "LoopCond", "AtOnce"};
      if (line.inputs.size() == 1 && line.op != "_Retval" && line.op != "Enter")
        line.op = some(passing);
    }
  }

  std::mt19937 random_;
  std::vector<Line> lines_;
  std::vector<std::string> values_; ///< int64 that a node of the frame at hand may read
};

// 250 bytes that used to take all of a node's memory.
constexpr auto without_condition = R"(
  x = _Arg[T=DT_INT64, index=0]()
  enter = Enter[frame_name="w"](x)
  merge = Merge(enter, next)
  more = AddV2(merge, merge)
  next = NextIteration(more)
  out = Exit(merge)
  r = _Retval[index=0](out)
)";

} // namespace

TEST_CASE("loops: a second value of an Exit ends the step, which says where and gives all back") {
  Rig rig;
  const std::int64_t before = rig.bytes_in_use();
  {
    auto executable = rig.compile(without_condition);
    for (int i = 0; i < 3; ++i) {
      auto outcome = rig.run(executable, {Tensor::scalar<std::int64_t>(1)});
      CHECK(outcome.status.code() == Code::invalid_argument);
      CHECK(outcome.status.message().find("Exit 'out' of the loop 'w' gets a second value, in "
                                          "iteration 1") != std::string::npos);
      CHECK(outcome.status.origin().node == "out");
      CHECK(outcome.status.origin().op == "Exit");
    }
  }
  CHECK(rig.bytes_in_use() == before);
}

TEST_CASE("loops: an Exit that gave its value in an early round is not dead after the last one") {
  Rig rig;
  // `early` leaves when i is 2; the loop goes on to 5, and only then comes the other input of
  // `sum`.
  auto executable = rig.compile(R"(
    n = _Arg[T=DT_INT64, index=0]()
    zero = Const[dtype=DT_INT64, value=i64[] 0]()
    one = Const[dtype=DT_INT64, value=i64[] 1]()
    two = Const[dtype=DT_INT64, value=i64[] 2]()
    i_in = Enter[frame_name="w"](zero)
    n_in = Enter[frame_name="w", is_constant=true](n)
    one_in = Enter[frame_name="w", is_constant=true](one)
    two_in = Enter[frame_name="w", is_constant=true](two)
    i = Merge(i_in, i_next)
    less = Less(i, n_in)
    cond = LoopCond(less)
    side = Switch(i, cond)
    body = Identity(side:1)
    below = Less(body, two_in)
    above = Less(two_in, body)
    from_two = Switch(body, below)
    at_two = Switch(from_two:0, above)
    early = Exit(at_two:0)
    plus = AddV2(body, one_in)
    i_next = NextIteration(plus)
    last = Exit(side:0)
    l1 = Neg(last)
    l2 = Neg(l1)
    l3 = Neg(l2)
    l4 = Neg(l3)
    l5 = Neg(l4)
    l6 = Neg(l5)
    l7 = Neg(l6)
    l8 = Neg(l7)
    later = Neg(l8)
    sum = Sub(early, later)
    r = _Retval[index=0](sum)
  )");
  for (int i = 0; i < 2; ++i) {
    auto outcome = rig.run(executable, {Tensor::scalar<std::int64_t>(5)});
    REQUIRE_MESSAGE(outcome.status.ok(), outcome.status.to_string());
    CHECK(outcome.retvals[0].value<std::int64_t>() == 7);
  }
}

TEST_CASE("loops: graphs that are wrong in any way end or can be cancelled, and give back all") {
  const char* wish = std::getenv("TROUPE_LOOP_GRAPHS");
  const long count = wish ? std::atol(wish) : 10'000;
  Rig rig(1); // what other threads give back the allocator counts later
  const std::int64_t before = rig.bytes_in_use();
  int num_ok = 0, num_refused = 0, num_cancelled = 0;
  for (std::uint32_t seed = 1; seed <= static_cast<std::uint32_t>(count); ++seed) {
    CAPTURE(seed);
    const std::string text = LoopGraph(seed).text();
    CAPTURE(text);
    auto graph = parse_graph(text, testing::library().ops);
    if (!graph.ok()) {
      ++num_refused;
      continue;
    }
    auto executable =
        Executable::compile(*std::move(graph), *rig.device, testing::library().kernels);
    if (!executable.ok()) {
      ++num_refused;
      continue;
    }
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto step = rig.start(*executable,
                            {Tensor::scalar<std::int64_t>(1), Tensor::scalar<std::int64_t>(3)});
      for (int slice = 0; slice < 20 && !step->finished(); ++slice)
        rig.advance(*step, std::chrono::microseconds(20));
      if (!step->finished()) {
        step->cancel(cancelled("enough"));
        ++num_cancelled;
      }
      num_ok += rig.finish(*step).ok();
    }
    *executable = nullptr;
    REQUIRE(rig.bytes_in_use() == before);
  }
  MESSAGE(num_ok, " steps ended well, ", num_cancelled, " had no end, ", num_refused,
          " graphs were refused");
  CHECK(num_ok > count / 4);
  CHECK(num_refused > count / 20);
  CHECK(num_cancelled > count / 200);
}
