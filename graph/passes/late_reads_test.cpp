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

// The same for nodes that are where the text says.
void placed_reads_become(std::string_view before, std::string_view after) {
  const OpRegistry ops = rewriting_test_ops();
  Graph graph = graph_of(before, ops);
  for (Node* node : graph.nodes())
    node->assigned_device = node->device;
  read_references_late(graph);
  for (Node* node : graph.nodes()) {
    node->device = node->assigned_device;
    node->assigned_device.clear();
  }
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

TEST_CASE("late reads: a loop reads what its last iteration, or what came before it, has written") {
  // One iteration's write comes before the next one's read: around the loop.
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    zero = Placeholder[dtype=DT_FLOAT]()
    start = Enter[frame_name="f"](zero)
    i = Merge(start, next)
    in_all = Enter[frame_name="f", is_constant=true](read)
    target = RefEnter[frame_name="f", is_constant=true](w)
    gradient = Mul(in_all, i)
    write = Assign(target, gradient)
    count = Neg(i) ^write
    next = NextIteration(count)
    once = Enter[frame_name="g", is_constant=true](read)
    beside = Neg(once)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    zero = Placeholder[dtype=DT_FLOAT]()
    start = Enter[frame_name="f"](zero)
    i = Merge(start, next)
    in_all = Enter[frame_name="f", is_constant=true](read)
    in_all/reference = RefEnter[frame_name="f", is_constant=true](w)
    target = RefEnter[frame_name="f", is_constant=true](w)
    gradient = Mul(in_all/reference, i) ^in_all
    write = Assign(target, gradient)
    count = Neg(i) ^write
    next = NextIteration(count)
    once = Enter[frame_name="g", is_constant=true](read)
    beside = Neg(once)
  )");
  // A loop in a loop, after a write.
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    x = Placeholder[dtype=DT_FLOAT]()
    write = Assign(w, x)
    start = Enter[frame_name="f"](x) ^write
    outer = Enter[frame_name="f", is_constant=true](read)
    inner = Enter[frame_name="g", is_constant=true](outer)
    again = Enter[frame_name="g"](start)
    first = Mul(inner, again)
    second = Add(inner, first)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    x = Placeholder[dtype=DT_FLOAT]()
    write = Assign(w, x)
    start = Enter[frame_name="f"](x) ^write
    outer = Enter[frame_name="f", is_constant=true](read)
    outer/reference = RefEnter[frame_name="f", is_constant=true](w)
    inner = Enter[frame_name="g", is_constant=true](outer)
    inner/reference = RefEnter[frame_name="g", is_constant=true](outer/reference)
    again = Enter[frame_name="g"](start)
    first = Mul(inner/reference, again) ^inner
    second = Add(inner/reference, first) ^inner
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

TEST_CASE("late reads: what comes after a write in a branch reads the reference there") {
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    p = Placeholder[dtype=DT_BOOL]()
    taken = Switch(read, p)
    target = RefSwitch(w, p)
    gradient = Neg(taken:1)
    write = Assign(target:1, gradient)
    after = Square(taken:1) ^write
    otherwise = Neg(taken)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    p = Placeholder[dtype=DT_BOOL]()
    taken = Switch(read, p)
    taken/reference = RefSwitch(w, p)
    target = RefSwitch(w, p)
    gradient = Neg(taken:1)
    write = Assign(target:1, gradient)
    after = Square(taken/reference:1) ^write ^taken
    otherwise = Neg(taken)
  )");
  // A branch within an iteration, after a write before the loop.
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    p = Placeholder[dtype=DT_BOOL]()
    x = Placeholder[dtype=DT_FLOAT]()
    write = Assign(w, x)
    start = Enter[frame_name="f"](x) ^write
    in_all = Enter[frame_name="f", is_constant=true](read)
    p_in = Enter[frame_name="f", is_constant=true](p)
    taken = Switch(in_all, p_in)
    use = Mul(taken, start)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    p = Placeholder[dtype=DT_BOOL]()
    x = Placeholder[dtype=DT_FLOAT]()
    write = Assign(w, x)
    start = Enter[frame_name="f"](x) ^write
    in_all = Enter[frame_name="f", is_constant=true](read)
    in_all/reference = RefEnter[frame_name="f", is_constant=true](w)
    p_in = Enter[frame_name="f", is_constant=true](p)
    taken = Switch(in_all, p_in)
    taken/reference = RefSwitch(in_all/reference, p_in)
    use = Mul(taken/reference, start) ^taken
  )");
}

TEST_CASE("late reads: a loop that writes reads anew in each iteration, also without an order") {
  reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    in_all = Enter[frame_name="f", is_constant=true](read)
    target = RefEnter[frame_name="f", is_constant=true](w)
    gradient = Neg(in_all)
    write = Assign(target, gradient)
    beside = Enter[frame_name="g", is_constant=true](read)
    other = Neg(beside)
  )",
               R"(
    w = VariableV2[dtype=DT_FLOAT]()
    read = Identity(w)
    in_all = Enter[frame_name="f", is_constant=true](read)
    in_all/reference = RefEnter[frame_name="f", is_constant=true](w)
    in_all/snapshot = Identity(in_all/reference)
    target = RefEnter[frame_name="f", is_constant=true](w)
    gradient = Neg(in_all/snapshot)
    write = Assign(target, gradient)
    beside = Enter[frame_name="g", is_constant=true](read)
    other = Neg(beside)
  )");
}

TEST_CASE(
    "late reads: another device is sent what is read after the writes that its reader waits for") {
  placed_reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]() @"/job:ps/cpu:0"
    read = Identity(w) @"/job:ps/cpu:0"
    x = Placeholder[dtype=DT_FLOAT]() @"/job:a/cpu:0"
    write = Assign(w, x) @"/job:ps/cpu:0"
    again = Assign(w, x) ^write @"/job:ps/cpu:0"
    done = NoOp() ^write @"/job:a/cpu:0"
    copy = Identity(w) ^done @"/job:a/cpu:0"
    use = Neg(read) ^again @"/job:a/cpu:0"
    other = Square(w) ^again @"/job:a/cpu:0"
    written = Neg(write) @"/job:a/cpu:0"
    early = Neg(w) @"/job:a/cpu:0"
    beside = Square(read) @"/job:a/cpu:0"
  )",
                      R"(
    w = VariableV2[dtype=DT_FLOAT]() @"/job:ps/cpu:0"
    read = Identity(w) @"/job:ps/cpu:0"
    x = Placeholder[dtype=DT_FLOAT]() @"/job:a/cpu:0"
    write = Assign(w, x) @"/job:ps/cpu:0"
    again = Assign(w, x) ^write @"/job:ps/cpu:0"
    done = NoOp() ^write @"/job:a/cpu:0"
    w/late_1 = Identity(w) ^write @"/job:ps/cpu:0"
    copy = Identity(w/late_1) ^done @"/job:a/cpu:0"
    w/late = Identity(w) ^write ^again @"/job:ps/cpu:0"
    use = Neg(w/late) ^again @"/job:a/cpu:0"
    other = Square(w/late) ^again @"/job:a/cpu:0"
    written = Neg(write) @"/job:a/cpu:0"
    early = Neg(w) @"/job:a/cpu:0"
    beside = Square(read) @"/job:a/cpu:0"
  )");
}

TEST_CASE("late reads: another device is sent each output of a branch by itself") {
  placed_reads_become(R"(
    w = VariableV2[dtype=DT_FLOAT]() @"/job:ps/cpu:0"
    p = Placeholder[dtype=DT_BOOL]() @"/job:ps/cpu:0"
    x = Placeholder[dtype=DT_FLOAT]() @"/job:a/cpu:0"
    target = RefSwitch(w, p) @"/job:ps/cpu:0"
    write = Assign(target:1, x) @"/job:ps/cpu:0"
    otherwise = Assign(target, x) @"/job:ps/cpu:0"
    use = Neg(target:1) ^write ^otherwise @"/job:a/cpu:0"
    other = Square(target) ^write ^otherwise @"/job:a/cpu:0"
  )",
                      R"(
    w = VariableV2[dtype=DT_FLOAT]() @"/job:ps/cpu:0"
    p = Placeholder[dtype=DT_BOOL]() @"/job:ps/cpu:0"
    x = Placeholder[dtype=DT_FLOAT]() @"/job:a/cpu:0"
    target = RefSwitch(w, p) @"/job:ps/cpu:0"
    write = Assign(target:1, x) @"/job:ps/cpu:0"
    otherwise = Assign(target, x) @"/job:ps/cpu:0"
    target/late = Identity(target:1) ^write ^otherwise @"/job:ps/cpu:0"
    use = Neg(target/late) ^write ^otherwise @"/job:a/cpu:0"
    target/late_1 = Identity(target) ^write ^otherwise @"/job:ps/cpu:0"
    other = Square(target/late_1) ^write ^otherwise @"/job:a/cpu:0"
  )");
}
