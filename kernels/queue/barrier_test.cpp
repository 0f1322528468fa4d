// Barriers in graphs.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace barrier_cases {
TROUPE_OPS_IN_GRAPHS("Barrier BarrierInsertMany BarrierTakeMany BarrierClose BarrierReadySize",
                     "BarrierIncompleteSize");
} // namespace barrier_cases

namespace troupe {
namespace {

using testing::GraphLines;

constexpr auto barrier = R"(
  b = Barrier[component_types=[float, int32], shapes=[[], [1]], shared_name="b"]()
  keys = Const[dtype=string, value=str[2] "a" "b"]()
  floats = Const[dtype=float, value=f32[2] 1 2]()
  ints = Const[dtype=int32, value=i32[2,1] 10 20]()
  zero = Const[dtype=int32, value=i32[] 0]()
  one = Const[dtype=int32, value=i32[] 1]()
  three = Const[dtype=int32, value=i32[] 3]()
  first = BarrierInsertMany[component_index=0](b, keys, floats)
  second = BarrierInsertMany[component_index=1](b, keys, ints)
  ready = BarrierReadySize(b)
  incomplete = BarrierIncompleteSize(b)
  take = BarrierTakeMany[component_types=[float, int32]](b, one)
  take_none = BarrierTakeMany[component_types=[float, int32]](b, zero)
  take_all = BarrierTakeMany[component_types=[float, int32]](b, three)
  take_some = BarrierTakeMany[component_types=[float, int32], allow_small_batch=true](b, three)
  close = BarrierClose(b)
  cancel = BarrierClose[cancel_pending_enqueues=true](b)
  other_key = Const[dtype=string, value=str[1] "c"]()
  other = BarrierInsertMany[component_index=0](b, other_key, row)
  row = Const[dtype=float, value=f32[1] 3]())";

} // namespace

TEST_CASE("barrier: tuples become whole and are taken in the order of their keys") {
  GraphLines f;
  f.add(barrier);
  CHECK(f.run({"^second"}) == "ok");
  CHECK(f.run({"ready", "incomplete"}) == "ok i32[] 0 i32[] 2");
  CHECK(f.run({"^first"}) == "ok");
  CHECK(f.run({"ready", "incomplete"}) == "ok i32[] 2 i32[] 0");
  CHECK(f.run({"take:0", "take:1", "take:2", "take:3"}) ==
        "ok i64[1] -9223372036854775808 str[1] \"a\" f32[1] 1 i32[1,1] 10");
  CHECK(f.run({"take:1"}) == "ok str[1] \"b\"");
  CHECK(f.run({"take_none:1", "take_none:3"}) == "ok str[0] i32[0,1]");
}

TEST_CASE("barrier: a closed barrier completes what it has and takes nothing new") {
  GraphLines f;
  f.add(barrier);
  CHECK(f.run({"^first"}) == "ok");
  CHECK(f.run({"^close"}) == "ok");
  CHECK(f.fails({"^close"}, "is already closed"));
  CHECK(f.fails({"^other"},
                "is closed, but attempted to insert a brand new key: c.  Pending enqueues "
                "cancelled: 0.  Insertion index: 0.  Number of incomplete keys: "));
  CHECK(f.fails({"take_all:1"}, "Barrier 'b' is closed and has insufficient elements (requested "
                                "3, total size 2)"));
  CHECK(f.run({"^second"}) == "ok");
  CHECK(f.run({"take_some:1"}) == "ok str[2] \"a\" \"b\"");
  CHECK(f.fails({"take_some:1"}, "is closed and has insufficient elements"));
}

TEST_CASE("barrier: closing may drop what is incomplete") {
  GraphLines f;
  f.add(barrier);
  CHECK(f.run({"^first"}) == "ok");
  CHECK(f.run({"^close"}) == "ok");
  CHECK(f.run({"^cancel"}) == "ok");
  CHECK(f.run({"incomplete"}) == "ok i32[] 0");
  CHECK(f.fails({"^second"}, "Barrier b is closed.  Pending enqueues cancelled: 1.  Number of new "
                             "insertions: 2.  Number of incomplete keys: 0."));
}

TEST_CASE("barrier: one without a name of its own is named after its node, for its session alone") {
  GraphLines f;
  f.add(R"(
    b = Barrier[component_types=[float], shapes=[[]]]()
    keys = Const[dtype=string, value=str[1] "a"]()
    floats = Const[dtype=float, value=f32[1] 1]()
    insert = BarrierInsertMany[component_index=0](b, keys, floats)
    close = BarrierClose(b))");
  CHECK(f.run({"^close"}) == "ok");
  CHECK(f.fails({"^close"}, "_b' is already closed."));
  CHECK(f.fails({"^insert"}, "_b is closed.  Pending enqueues cancelled: 0.  Number of new "
                             "insertions: 1.  Number of incomplete keys: 0."));
}

TEST_CASE("barrier: what does not fit is refused") {
  GraphLines f;
  f.add(barrier);
  f.add(R"(
    twice = BarrierInsertMany[component_index=0](b, keys, floats) ^first
    far = BarrierInsertMany[component_index=2](b, keys, floats)
    wrong_type = BarrierInsertMany[component_index=1](b, keys, floats)
    wrong_shape = BarrierInsertMany[component_index=1](b, keys, flat)
    flat = Const[dtype=int32, value=i32[2] 1 2]()
    scalar = BarrierInsertMany[component_index=1](b, keys, zero)
    few = BarrierInsertMany[component_index=0](b, keys, row)
    nothing = BarrierInsertMany[component_index=1](b, keys, hollow)
    hollow = Const[dtype=int32, value=i32[2,0]]()
    matrix = BarrierInsertMany[component_index=0](b, square, floats)
    square = Const[dtype=string, value=str[1,2] "a" "b"]()
    bounded = Barrier[component_types=[float], shapes=[[]], capacity=3]()
    shapeless = Barrier[component_types=[float]]()
    few_shapes = Barrier[component_types=[float, int32], shapes=[[]]]()
    shared = Barrier[component_types=[float], shapes=[[]], shared_name="b"]()
    late = BarrierTakeMany[component_types=[float, int32], timeout_ms=3](b, one)
    other_types = BarrierTakeMany[component_types=[float]](b, one)
    vector = BarrierTakeMany[component_types=[float, int32]](b, flat))");
  CHECK(f.fails({"^twice"}, "Key a already has a value for component 0 in barrier b"));
  CHECK(f.fails({"^far"}, "The component ID is out of range 2 > num_components (= 2)"));
  CHECK(f.fails({"^wrong_type"}, "Type mismatch in component 1. Expected int32, got float"));
  CHECK(f.fails({"^wrong_shape"}, "Shape mismatch in component 1. Expected [1], got []"));
  CHECK(f.fails({"^scalar"}, "values must have a first dimension"));
  CHECK(f.fails({"^few"}, "keys and values must have the same first dimension"));
  CHECK(
      f.fails({"^nothing"}, "Tensors with no elements are not supported b: received shape [2,0]"));
  CHECK(f.fails({"^matrix"}, "keys must be a vector"));
  CHECK(f.fails({"^bounded"}, "Barrier only accepts capacity=-1"));
  CHECK(f.fails({"^shared"}, "Shared barrier 'b' has component types float, int32 but requested "
                             "component types were float"));
  CHECK(f.fails({"^shapeless"}, "All of the component shapes must be specified"));
  CHECK(f.fails({"^few_shapes"}, "All of the component shapes must be specified"));
  CHECK(f.fails({"late:0"}, "Timeout not supported yet."));
  CHECK(f.fails({"other_types:0"}, "are not those of its barrier"));
  CHECK(f.fails({"vector:0"}, "num_elements must be a scalar."));
}

} // namespace troupe
