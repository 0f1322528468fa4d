#include <algorithm>

#include "graph/passes/testing/rewriting.hpp"

using namespace troupe;

namespace {

void stripped(std::string_view before, std::string_view after) {
  OpRegistry ops = rewriting_test_ops();
  std::vector<std::string> others;
  for (const Pass& pass : all_passes())
    if (pass.name != "strip_debug")
      others.emplace_back(pass.name);
  OptimizeOptions options{
      .disabled = others, .enabled = {"strip_debug"}, .preserve = {"fetch", "target"}};
  check_text(rewritten(ops, before, options), after);
}

} // namespace

TEST_CASE("strip_debug: what checks and prints goes, who waited for it waits for what it saw") {
  stripped(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    yes = Placeholder[dtype=DT_BOOL]()
    text = Placeholder[dtype=DT_STRING]()
    check = Assert[T=[DT_FLOAT]](yes, x)
    told = PrintV2(text) ^check
    number = CheckNumerics(x) ^told
    shown = Print[U=[DT_BOOL]](number, yes)
    kept = CheckNumericsV2(shown)
    fetch = Neg(kept))",
           R"(
    x = Placeholder[dtype=DT_FLOAT]()
    yes = Placeholder[dtype=DT_BOOL]()
    text = Placeholder[dtype=DT_STRING]()
    check = NoOp() ^yes ^x
    told = NoOp() ^check ^text
    number = Identity(x) ^told
    shown = Identity(number) ^yes
    kept = CheckNumericsV2(shown)
    fetch = Neg(kept))");
}

TEST_CASE("strip_debug: a target keeps its name") {
  stripped(R"(
    yes = Placeholder[dtype=DT_BOOL]()
    target = Assert[T=[DT_BOOL]](yes, yes))",
           R"(
    yes = Placeholder[dtype=DT_BOOL]()
    target = NoOp() ^yes)");
}

TEST_CASE("strip_debug: in a branch that is not taken what is left of a check is dead") {
  stripped(R"(
    x = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(x, p)
    check = Assert[T=[DT_FLOAT]](p, s:1)
    fetch = Neg(s) ^check)",
           R"(
    x = Placeholder[dtype=DT_FLOAT]()
    p = Placeholder[dtype=DT_BOOL]()
    s = Switch(x, p)
    check/waits = Identity(s:1)
    check = NoOp() ^p ^check/waits
    fetch = Neg(s) ^check)");
}

TEST_CASE("strip_debug: runs on request alone") {
  OpRegistry ops = rewriting_test_ops();
  constexpr auto text = R"(
    x = Placeholder[dtype=DT_FLOAT]()
    number = CheckNumerics(x)
    fetch = Neg(number))";
  CHECK(rewritten(ops, text, {.preserve = {"fetch"}}).find("number")->is_op("CheckNumerics"));
  const std::vector<std::string> asked{"debug_stripper"}, ours{"strip_debug", "simplify"},
      other{"constfold", "bogus", "simplify"};
  CHECK(passes_on_request(asked) == std::vector<std::string>{"strip_debug"});
  CHECK(passes_on_request(ours) == std::vector<std::string>{"strip_debug"});
  CHECK(passes_on_request(other).empty());
}
