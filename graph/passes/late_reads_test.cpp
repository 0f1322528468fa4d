#include "graph/passes/late_reads.hpp"

#include "graph/passes/internal/test_text.hpp"

using namespace troupe;

namespace {

void reads_become(std::string_view before, std::string_view after) {
  const OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(before, ops);
  read_references_late(graph);
  check_text(graph, after);
}

} // namespace

TEST_CASE("late reads: what comes after a write reads the reference, what does not the snapshot") {
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    forward = Neg(read)
    write = Assign(w, forward)
    after = Square(read) ^write
    later = Mul(read, after)
    beside = Square(read)
    other = VariableV2[dtype=DT_FLOAT]()
    read_other = Identity(other)
    its = Add(read_other, after)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    forward = Neg(read)
    write = Assign(w, forward)
    after = Square(w) ^write ^read
    later = Mul(w, after) ^read
    beside = Square(read)
    other = VariableV2[dtype=DT_FLOAT]()
    read_other = Identity(other)
    its = Add(read_other, after)
  )");
}

TEST_CASE("late reads: an Identity after the write, and one between two writes") {
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    x = Placeholder[dtype=DT_FLOAT]()
    first = Assign(w, x)
    read = Identity(first)
    use = Neg(read)
    second = Assign(first, use)
    again = Square(read) ^second
    passed = StopGradient(read)
    end = Neg(passed) ^second
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    x = Placeholder[dtype=DT_FLOAT]()
    first = Assign(w, x)
    read = Identity(first)
    use = Neg(read)
    second = Assign(first, use)
    again = Square(first) ^second ^read
    passed = StopGradient(read)
    end = Neg(first) ^second ^passed
  )");
}

TEST_CASE("late reads: a fetch reads the reference, on the variable's device") {
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    passed = Identity(read)
    value = Neg(read)
    r = _Retval[index=0](passed)
    q = _Retval[index=1](value)
    p = _Retval[index=2](w)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    passed = Identity(read)
    value = Neg(read)
    r = _Retval[index=0](w) ^passed
    q = _Retval[index=1](value)
    p = _Retval[index=2](w)
  )");
  const OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    write = Assign(w, read)
    after = Neg(read) ^write
    r = _Retval[index=0](read)
  )",
                         ops);
  graph.find("w")->assigned_device = "/job:ps/replica:0/task:0/device:CPU:0";
  const std::string before = to_text(graph);
  read_references_late(graph); // what another device has of it came as a value
  CHECK(to_text(graph) == before);
}
