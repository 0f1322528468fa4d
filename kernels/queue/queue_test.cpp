// Queues in graphs: names, handles of both forms, signatures, errors. How a queue behaves is
// devices/resource/queue_test.cpp's.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("FIFOQueue FIFOQueueV2 PaddingFIFOQueue PaddingFIFOQueueV2",
                     "RandomShuffleQueue RandomShuffleQueueV2 PriorityQueue PriorityQueueV2",
                     "QueueEnqueue QueueEnqueueV2 QueueEnqueueMany QueueEnqueueManyV2",
                     "QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2",
                     "QueueDequeueUpTo QueueDequeueUpToV2 QueueClose QueueCloseV2",
                     "QueueSize QueueSizeV2 QueueIsClosed QueueIsClosedV2");

namespace troupe {
namespace {

using Fixture = testing::GraphLines;

/// A queue of one kind, in the old or the new form, and ops that use it; `takes` are its dtypes.
std::string queue_graph(std::string_view kind, std::string_view attrs, std::string_view v,
                        std::string_view puts = "one, two",
                        std::string_view takes = "int32, float") {
  return str_cat("q = ", kind, v, "[", attrs, "]()\n", R"(
    one = Const[dtype=int32, value=i32[3] 1 2 3]()
    two = Const[dtype=float, value=f32[3,1] 10 20 30]()
    n = Const[dtype=int32, value=i32[] 2]()
    many = QueueEnqueueMany)",
                 v, "(q, ", puts, ")\n    size = QueueSize", v, "(q)\n    closed = QueueIsClosed",
                 v, "(q)\n    close = QueueClose", v, "(q)\n    take = QueueDequeue", v,
                 "[component_types=[", takes, "]](q)\n    take_many = QueueDequeueMany", v,
                 "[component_types=[", takes, "]](q, n)\n    up_to = QueueDequeueUpTo", v,
                 "[component_types=[", takes, "]](q, n)\n");
}

} // namespace

TEST_CASE("queues: both forms put, take, count and close") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    for (std::string_view kind : {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue"}) {
      CAPTURE(kind);
      Fixture f;
      f.add(queue_graph(kind, "component_types=[int32, float], shapes=[[], [1]], capacity=9", v));
      CHECK(f.run({"size", "closed"}) == "ok i32[] 0 bool[] false");
      CHECK(f.run({"^many"}) == "ok");
      CHECK(f.run({"size"}) == "ok i32[] 3");
      const std::string first = f.run({"take:0", "take:1"});
      const std::string batch = f.run({"take_many:0", "take_many:1"});
      if (kind != "RandomShuffleQueue") {
        CHECK(first == "ok i32[] 1 f32[1] 10");
        CHECK(batch == "ok i32[2] 2 3 f32[2,1] 20 30");
      }
      CHECK(batch.starts_with("ok i32[2]"));
      CHECK(f.run({"^many"}) == "ok");
      CHECK(f.run({"^close"}) == "ok");
      CHECK(f.run({"closed"}) == "ok bool[] true");
      CHECK(f.run({"up_to:0"}).starts_with("ok i32[2]"));
      CHECK(f.run({"up_to:0"}).starts_with("ok i32[1]"));
      const std::string none = f.run({"up_to:0"});
      CHECK(none.starts_with(
          str_cat("OUT_OF_RANGE: node 'up_to' (QueueDequeueUpTo", v, "): ", kind, " '_")));
      CHECK(none.ends_with(
          "_q' is closed and has insufficient elements (requested 2, current size 0)"));
    }
  }
}

TEST_CASE("queues: a priority queue adds its first component by itself") {
  for (std::string_view v : {"", "V2"}) {
    Fixture f;
    f.add(queue_graph("PriorityQueue", "component_types=[float], shapes=[[1]]", v,
                      "priorities, two", "int64, float"));
    f.add("priorities = Const[dtype=int64, value=i64[3] 5 -1 5]()");
    CHECK(f.run({"^many"}) == "ok");
    CHECK(f.run({"take_many:0", "take_many:1"}) == "ok i64[2] -1 5 f32[2,1] 20 10");
  }
}

TEST_CASE("queues: without a shared_name a queue is its node's alone") {
  Fixture f;
  f.add(R"(
    a = FIFOQueueV2[component_types=[int32], shared_name="s"]()
    b = FIFOQueueV2[component_types=[int32], shared_name="s"]()
    s = FIFOQueueV2[component_types=[int32]]()
    other = FIFOQueueV2[component_types=[int32], shared_name="s", container="elsewhere"]()
    one = Const[dtype=int32, value=i32[] 1]()
    put = QueueEnqueueV2(a, one)
    a_size = QueueSizeV2(a)
    b_size = QueueSizeV2(b)
    s_size = QueueSizeV2(s)
    other_size = QueueSizeV2(other)
    wrong = FIFOQueueV2[component_types=[int32], shared_name="s", capacity=3]()
    kind = PaddingFIFOQueueV2[component_types=[int32], shared_name="s"]())");
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"a_size", "b_size", "s_size", "other_size"}) ==
        "ok i32[] 1 i32[] 1 i32[] 0 i32[] 0");
  CHECK(f.run({"^wrong"}) == "INVALID_ARGUMENT: node 'wrong' (FIFOQueueV2): Shared queue 's' has "
                             "capacity -1 but requested capacity was 3");
  CHECK(f.run({"^kind"}) == "INVALID_ARGUMENT: node 'kind' (PaddingFIFOQueueV2): Expected "
                            "FIFOQueue, found PaddingFIFOQueueV2");
}

TEST_CASE("queues: elements leave a random queue with seeds in TensorFlow's order") {
  Fixture f;
  f.add(R"(
    q = RandomShuffleQueueV2[component_types=[int32], shapes=[[]], seed=5, seed2=7]()
    eight = Const[dtype=int32, value=i32[8] 1 2 3 4 5 6 7 8]()
    count = Const[dtype=int32, value=i32[] 8]()
    put = QueueEnqueueManyV2(q, eight)
    take = QueueDequeueManyV2[component_types=[int32]](q, count))");
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"take"}) == "ok i32[8] 7 3 2 8 4 1 5 6");
}

TEST_CASE("queues: what a node puts or takes must be of the queue's dtypes") {
  Fixture f;
  f.add(R"(
    q = FIFOQueueV2[component_types=[int32, float]]()
    old = FIFOQueue[component_types=[int32]]()
    one = Const[dtype=int32, value=i32[] 1]()
    zero = Sub(one, one)
    below = Sub(zero, one)
    put = QueueEnqueueV2(q, one)
    take = QueueDequeueV2[component_types=[int32]](q)
    take_old = QueueDequeue[component_types=[int32, int32]](old)
    late = QueueDequeueV2[component_types=[int32, float], timeout_ms=5](q)
    negative = QueueDequeueManyV2[component_types=[int32, float]](q, below)
    negative_up_to = QueueDequeueUpToV2[component_types=[int32, float]](q, below)
    unknown = QueueDequeueManyV2[component_types=[int32, float]](q, one)
    r = RandomShuffleQueueV2[component_types=[int32], capacity=3, min_after_dequeue=3]()
    p = PaddingFIFOQueueV2[component_types=[int32], shapes=[?]]()
    partial = FIFOQueueV2[component_types=[int32], shapes=[[?]]]())");
  CHECK(f.run({"^put"}) ==
        "INVALID_ARGUMENT: node 'put' (QueueEnqueueV2): Signature mismatch, have: resource, "
        "int32-> expected: resource, int32, float->");
  CHECK(f.run({"take"}) ==
        "INVALID_ARGUMENT: node 'take' (QueueDequeueV2): Signature mismatch, have: "
        "resource->int32 expected: resource->int32, float");
  CHECK(f.run({"take_old"}) ==
        "INVALID_ARGUMENT: node 'take_old' (QueueDequeue): Signature mismatch, have: "
        "string_ref->int32, int32 expected: string_ref->int32");
  CHECK(f.run({"late"}).find("Timeout not supported yet.") != std::string::npos);
  CHECK(f.run({"negative"}).find("DequeueManyOp requested -1 < 0 elements") != std::string::npos);
  CHECK(f.run({"negative_up_to"}).find("DequeueUpToOp requested -1 < 0 elements") !=
        std::string::npos);
  CHECK(f.run({"unknown"})
            .find("FIFOQueue's DequeueMany and DequeueUpTo require the components "
                  "to have specified shapes.") != std::string::npos);
  CHECK(f.run({"^r"}).find("min_after_dequeue 3 must be < capacity 3") != std::string::npos);
  CHECK(f.run({"^p"}).find("its rank must be known") != std::string::npos);
  CHECK(f.run({"^partial"}).find("it must be fully known") != std::string::npos);
}

TEST_CASE("queues: a closed padding queue calls itself a FIFOQueue, but for batches") {
  Fixture f;
  f.add(queue_graph("PaddingFIFOQueue",
                    "component_types=[int32, float], shapes=[[], [1]], shared_name=\"s\"", "V2"));
  CHECK(f.run({"^close"}) == "ok");
  CHECK(f.run({"^many"}).find("FIFOQueue 's' is closed.") != std::string::npos);
  CHECK(f.run({"take:0"}).find("): FIFOQueue 's' is closed and has insufficient elements") !=
        std::string::npos);
  CHECK(f.run({"take_many:0"})
            .find("): PaddingFIFOQueue 's' is closed and has insufficient elements") !=
        std::string::npos);
}

TEST_CASE("queues: a handle of something else is refused") {
  Fixture f;
  f.add(R"(
    v = VarHandleOp[dtype=int32, shape=[]]()
    from_variable = QueueSizeV2(v)
    text = VariableV2[dtype=string, shape=[2]]()
    from_text = QueueSize(text)
    names = Const[dtype=string, value=str[2] "c" "n"]()
    assign = Assign(text, names)
    from_names = QueueSize(assign))");
  CHECK(f.run({"from_variable"}).starts_with("NOT_FOUND"));
  CHECK(f.run({"from_text"}).find("Resource handle must have 2 elements") != std::string::npos);
  CHECK(f.run({"from_names"}).find("does not exist") != std::string::npos);
}

} // namespace troupe
