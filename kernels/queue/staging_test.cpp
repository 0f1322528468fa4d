// Staging areas, staging maps and mutexes in graphs: names, components, errors. Who waits for what
// is devices/resource/staging_test.cpp's.
#include <doctest/doctest.h>

#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::staging_graphs { // files of tests are compiled together
namespace {

TROUPE_OPS_IN_GRAPHS(
    "Stage Unstage StagePeek StageSize StageClear",
    "MapStage MapUnstage MapUnstageNoKey MapPeek MapSize MapIncompleteSize MapClear",
    "OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey OrderedMapPeek",
    "OrderedMapSize OrderedMapIncompleteSize OrderedMapClear",
    "MutexV2 MutexLock ConsumeMutexLock");

using StagingGraph = testing::GraphLines;

const std::string area_of_two = R"(
    one = Const[dtype=int32, value=i32[] 1]()
    two = Const[dtype=string, value=str[2] "a" "b"]()
    index = Const[dtype=int32, value=i32[] 1]()
    below = Const[dtype=int32, value=i32[] -1]()
    several = Const[dtype=int32, value=i32[2] 0 1]()
    put = Stage[dtypes=[int32, string], shared_name="s"](one, two)
    take = Unstage[dtypes=[int32, string], shared_name="s"]()
    fewer = Unstage[dtypes=[int32], shared_name="s"]()
    peek = StagePeek[dtypes=[int32, string], shared_name="s"](index)
    peek_below = StagePeek[dtypes=[int32, string], shared_name="s"](below)
    peek_several = StagePeek[dtypes=[int32, string], shared_name="s"](several)
    size = StageSize[dtypes=[int32, string], shared_name="s"]()
    clear = StageClear[dtypes=[int32, string], shared_name="s"]()
)";

/// `map`: "Map" or "OrderedMap".
std::string map_of_two(std::string_view map) {
  const std::string attrs = "dtypes=[float, string], shared_name=\"m\"";
  return str_cat(R"(
    a = Const[dtype=float, value=f32[] 1]()
    b = Const[dtype=string, value=str[] "b"]()
    seven = Const[dtype=int64, value=i64[] 7]()
    three = Const[dtype=int64, value=i64[] 3]()
    keys = Const[dtype=int64, value=i64[2] 3 7]()
    no_key = Const[dtype=int64, value=i64[0]]()
    both = Const[dtype=int32, value=i32[2] 0 1]()
    first = Const[dtype=int32, value=i32[1] 0]()
    second = Const[dtype=int32, value=i32[1] 1]()
)",
                 "put_7 = ", map, "Stage[", attrs,
                 ", fake_dtypes=[float, string]](seven, both, a, b)\n", "put_3 = ", map, "Stage[",
                 attrs, ", fake_dtypes=[float, string]](three, both, a, b)\n", "part_3 = ", map,
                 "Stage[", attrs, ", fake_dtypes=[string]](three, second, b)\n", "rest_3 = ", map,
                 "Stage[", attrs, ", fake_dtypes=[float]](three, first, a)\n", "others = ", map,
                 "Stage[dtypes=[float], shared_name=\"m\", fake_dtypes=[float]](three, first, a)\n",
                 "take_7 = ", map, "Unstage[", attrs, "](seven, both)\n", //
                 "take_b = ", map,
                 "Unstage[dtypes=[string], shared_name=\"m\"](seven, second)\n", //
                 "any = ", map, "UnstageNoKey[", attrs, "](both)\n",             //
                 "peek = ", map, "Peek[", attrs, "](seven, both)\n",             //
                 "many = ", map, "Peek[", attrs, "](keys, both)\n",              //
                 "none = ", map, "Peek[", attrs, "](no_key, both)\n",            //
                 "size = ", map, "Size[", attrs, "]()\n",                        //
                 "incomplete = ", map, "IncompleteSize[", attrs, "]()\n",        //
                 "clear = ", map, "Clear[", attrs, "]()\n");
}

} // namespace

TEST_CASE("staging: tuples go through an area in their order") {
  StagingGraph f;
  f.add(area_of_two);
  CHECK(f.run({"size"}) == "ok i32[] 0");
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"size"}) == "ok i32[] 2");
  CHECK(f.run({"peek:0", "peek:1"}) == "ok i32[] 1 str[2] \"a\" \"b\"");
  CHECK(f.run({"fewer"}).ends_with("Mismatch stage/unstage: 2 vs. 1"));
  CHECK(f.run({"take:0", "take:1"}) == "ok i32[] 1 str[2] \"a\" \"b\"");
  CHECK(f.run({"size"}) == "ok i32[] 1");
  CHECK(f.run({"^clear"}) == "ok");
  CHECK(f.run({"size"}) == "ok i32[] 0");
  CHECK(f.run({"peek_below"}).ends_with("index must not be negative, but is -1"));
  CHECK(f.run({"peek_several"}).ends_with("index must be a scalar, got shape: [2]"));
}

TEST_CASE("staging: an area's limits are those of the node that comes first") {
  StagingGraph f;
  f.add(R"(
    x = Const[dtype=float, value=f32[4] 0]()
    put = Stage[dtypes=[float], memory_limit=8](x)
  )");
  CHECK(f.run({"^put"}).ends_with("Attempted to insert tensors with combined size of '16' bytes "
                                  "into Staging Area with a memory limit of '8'."));
}

TEST_CASE("staging: maps put tuples together and take them apart") {
  for (const std::string_view map : {"Map", "OrderedMap"}) {
    CAPTURE(map);
    StagingGraph f;
    f.add(map_of_two(map));
    CHECK(f.run({"size", "incomplete"}) == "ok i32[] 0 i32[] 0");
    CHECK(f.run({"^put_7"}) == "ok");
    CHECK(f.run({"^part_3"}) == "ok");
    CHECK(f.run({"size", "incomplete"}) == "ok i32[] 1 i32[] 1");
    CHECK(f.run({"^rest_3"}) == "ok");
    CHECK(f.run({"size", "incomplete"}) == "ok i32[] 2 i32[] 0");
    CHECK(f.run({"peek:0", "peek:1"}) == "ok f32[] 1 str[] \"b\"");
    CHECK(f.run({"any:0", "any:1", "any:2"}) == "ok i64[] 3 f32[] 1 str[] \"b\"");
    CHECK(f.run({"take_b"}) == "ok str[] \"b\"");
    CHECK(
        f.run({"take_7:0"}).ends_with("Tensor at index '1' for key '7' has already been removed."));
    CHECK(f.run({"^put_3"}) == "ok");
    CHECK(f.run({"^clear"}) == "ok");
    CHECK(f.run({"size"}) == "ok i32[] 0");
    CHECK(f.run({"many:0"}).ends_with("key must be an int64 scalar, got tensor with shape: [2]"));
    CHECK(f.run({"none:0"}).ends_with("key must not be empty"));
    CHECK(f.run({"^others"}).find("tuples of 2 components") != std::string::npos);
  }
}

TEST_CASE("mutex: a step that fails gives its lock back, and one that ends does") {
  StagingGraph f;
  f.add(R"(
    m = MutexV2[shared_name="m"]()
    lock = MutexLock(m)
    no = Const[dtype=bool, value=bool[] false]()
    text = Const[dtype=string, value=str[] "oh"]()
    fail = Assert[T=[string], summarize=1](no, text) ^lock
    after_fail = ConsumeMutexLock(lock) ^fail
    again = MutexLock(m)
    work = NoOp() ^again
    after_work = ConsumeMutexLock(again) ^work
    any = Const[dtype=int32, value=i32[] -1]()
    zero = Const[dtype=int32, value=i32[] 0]()
    list = EmptyTensorList[element_dtype=float, shape_type=int32](any, zero)
    wrong = ConsumeMutexLock(list)
  )");
  for (int i = 0; i < 2; ++i) {
    CHECK(f.run({"^after_work"}) == "ok");
    CHECK(f.run({"^after_fail"}).find("assertion failed") != std::string::npos);
  }
  const std::string wrong = f.run({"^wrong"});
  CHECK_MESSAGE(wrong.ends_with("Expected input to contain a SharedLockReleaser object, but saw "
                                "variant: 'tensorflow::TensorList'"),
                wrong);
}

} // namespace troupe::staging_graphs
