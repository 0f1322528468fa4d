// Iterators in graphs: names, handles, texts of handles, states; reductions.
#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("Iterator IteratorV2 OneShotIterator MakeIterator IteratorGetNext",
                     "IteratorGetNextSync IteratorGetNextAsOptional IteratorToStringHandle",
                     "IteratorFromStringHandle IteratorFromStringHandleV2 AnonymousIterator",
                     "AnonymousIteratorV2 AnonymousIteratorV3 DeleteIterator SerializeIterator",
                     "DeserializeIterator ReduceDataset DatasetToSingleElement");

namespace troupe {
namespace {

constexpr auto it_attrs = "[output_types=[int64], output_shapes=[[]], shared_name=\"\", "
                          "container=\"\"]";

struct IteratorLines : testing::DatasetLines {
  IteratorLines() {
    add(testing::range_lines("r", 3));
    add(testing::range_lines("s", 2));
    add(str_cat("it = IteratorV2", it_attrs, "()"));
    add("make = MakeIterator(r, it)\nagain = MakeIterator(s, it)");
    add(str_cat("next = IteratorGetNext", testing::of_int64, "(it)"));
  }
};

} // namespace

TEST_CASE("iterators: begun, ended, begun with another dataset") {
  for (const char* kind : {"Iterator", "IteratorV2"}) {
    IteratorLines f;
    f.add(str_cat("other = ", kind, it_attrs, "()"));
    f.add(str_cat("make_other = MakeIterator(r, other)\nnext_other = IteratorGetNextSync",
                  testing::of_int64, "(other)"));
    CHECK(f.run({"next_other"}).find("FAILED_PRECONDITION") != std::string::npos);
    CHECK(
        f.run({"next_other"})
            .find("GetNext() failed because the iterator has not been initialized. Ensure that you "
                  "have run the initializer operation for this iterator before getting the next "
                  "element.") != std::string::npos);
    CHECK(f.run({"^make_other"}) == "ok");
    CHECK(f.run({"next_other"}) == "ok i64[] 0");
    CHECK(f.run({"^make"}) == "ok");
    CHECK(f.run({"next"}) == "ok i64[] 0");
    CHECK(f.run({"next"}) == "ok i64[] 1");
    CHECK(f.run({"next_other"}) == "ok i64[] 1");
    CHECK(f.run({"^again"}) == "ok");
    CHECK(f.run({"next"}) == "ok i64[] 0");
    CHECK(f.run({"next"}) == "ok i64[] 1");
    for (int i = 0; i < 2; ++i)
      CHECK(f.run({"next"}).find("OUT_OF_RANGE: node 'next' (IteratorGetNext): End of sequence") ==
            0);
  }
}

TEST_CASE("iterators: a shared name stands for one iterator") {
  IteratorLines f;
  for (const char* name : {"a", "b"})
    f.add(str_cat(name, " = IteratorV2[output_types=[int64], output_shapes=[[]], "
                        "shared_name=\"common\", container=\"\"]()"));
  f.add(str_cat("make_a = MakeIterator(r, a)\nnext_b = IteratorGetNext", testing::of_int64, "(b)"));
  CHECK(f.run({"^make_a"}) == "ok");
  CHECK(f.run({"next_b"}) == "ok i64[] 0");
  f.add("c = IteratorV2[output_types=[float], output_shapes=[[]], shared_name=\"common\", "
        "container=\"\"]()");
  CHECK(f.run({"^c"}).find("Data type mismatch at component 0: expected float but got int64.") !=
        std::string::npos);
}

TEST_CASE("iterators: datasets of other elements are refused") {
  IteratorLines f;
  f.add("floats = IteratorV2[output_types=[float], output_shapes=[[]], shared_name=\"\", "
        "container=\"\"]()\nwrong = MakeIterator(r, floats)");
  CHECK(
      f.run({"^wrong"}).find("Data type mismatch at component 0: expected float but got int64.") !=
      std::string::npos);
  f.add("vectors = IteratorV2[output_types=[int64], output_shapes=[[2]], shared_name=\"\", "
        "container=\"\"]()\nflat = MakeIterator(r, vectors)");
  CHECK(f.run({"^flat"}).find("Incompatible shapes at component 0: expected [2] but got [].") !=
        std::string::npos);
}

TEST_CASE("iterators: optionals instead of an end") {
  IteratorLines f;
  f.add(str_cat("o = IteratorGetNextAsOptional", testing::of_int64,
                "(it)\nhas = OptionalHasValue(o)\nvalue = OptionalGetValue", testing::of_int64,
                "(o)"));
  CHECK(f.run({"^again"}) == "ok");
  CHECK(f.run({"has", "value"}) == "ok bool[] true i64[] 0");
  CHECK(f.run({"has"}) == "ok bool[] true");
  CHECK(f.run({"has"}) == "ok bool[] false");
}

TEST_CASE("iterators: handles as texts that may be fed") {
  for (const char* kind : {"IteratorFromStringHandle", "IteratorFromStringHandleV2"}) {
    IteratorLines f;
    f.add("text = IteratorToStringHandle(it)\nfed = Placeholder[dtype=string]()");
    f.add(str_cat("from = ", kind, "[output_types=[int64], output_shapes=[[]]](fed)"));
    f.add(str_cat("typed = ", kind, "[output_types=[float], output_shapes=[[]]](fed)"));
    f.add(str_cat("next_from = IteratorGetNext", testing::of_int64, "(from)"));
    CHECK(f.run({"^make"}) == "ok");
    const auto text = f.values({"text"});
    REQUIRE(text.ok());
    const auto got = f.values({"next_from"}, {{"fed", (*text)[0]}});
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    CHECK((*got)[0].to_string() == "i64[] 0");
    CHECK(f.run({"next"}) == "ok i64[] 1");
    CHECK(f.values({"^typed"}, {{"fed", (*text)[0]}}).status().code() == Code::invalid_argument);
    const auto refused = [&](std::string value, Code code) {
      const auto out = f.values({"next_from"}, {{"fed", Tensor::scalar(std::move(value))}});
      CHECK_MESSAGE(out.status().code() == code, out.status().to_string());
    };
    refused("\xff\xff", Code::invalid_argument);
    refused("", Code::invalid_argument); // of no device
  }
}

TEST_CASE("iterators: without a name they live as long as their step, or their deleter") {
  for (const char* kind : {"AnonymousIteratorV2", "AnonymousIteratorV3"}) {
    IteratorLines f;
    f.add(str_cat("a = ", kind, testing::of_int64, "()"));
    f.add(str_cat("make_a = MakeIterator(r, a)\nnext_a = IteratorGetNext", testing::of_int64,
                  "(a) ^make_a\nsecond = IteratorGetNext", testing::of_int64, "(a) ^next_a"));
    CHECK(f.run({"next_a", "second"}) == "ok i64[] 0 i64[] 1");
    CHECK(f.run({"next_a", "second"}) == "ok i64[] 0 i64[] 1");
  }
  IteratorLines f;
  f.add(str_cat("a = AnonymousIteratorV2", testing::of_int64,
                "()\ngone = DeleteIterator(a, a:1)\nmake_a = MakeIterator(r, a) ^gone"));
  CHECK(f.run({"^make_a"}).find("NOT_FOUND") != std::string::npos);
}

TEST_CASE("iterators: AnonymousIterator outlives its step, until it is destroyed") {
  IteratorLines f;
  f.add(str_cat("a = AnonymousIterator", testing::of_int64, "()"));
  f.add("make_a = MakeIterator(r, a)\nname_a = IteratorToStringHandle(a) ^make_a");
  f.add("given = Placeholder[dtype=string]()");
  f.add(str_cat("found = IteratorFromStringHandleV2[output_types=[int64], "
                "output_shapes=[[]]](given)\nnext_found = IteratorGetNext",
                testing::of_int64, "(found)"));
  f.add("destroy = DestroyResourceOp[ignore_lookup_error=false](found)");
  const auto name = f.values({"name_a"});
  REQUIRE_MESSAGE(name.ok(), name.status().to_string());
  const auto with_name = [&](std::string_view fetch) {
    return f.values({std::string(fetch)}, {{"given", (*name)[0]}}).status();
  };
  CHECK(with_name("next_found").ok());
  CHECK(with_name("^destroy").ok());
  CHECK(with_name("next_found").code() == Code::not_found);
  CHECK(with_name("^destroy").code() == Code::not_found);
}

TEST_CASE("iterators: begun by themselves, once") {
  IteratorLines f;
  f.function("two", "", "d", str_cat(testing::range_lines("d", 2)));
  f.function("number", "", "d", testing::constant("d", "i64[] 1"));
  f.add(str_cat("shot = OneShotIterator[dataset_factory=two, output_types=[int64], "
                "output_shapes=[[]]]()\nnext_shot = IteratorGetNext",
                testing::of_int64, "(shot)"));
  CHECK(f.run({"next_shot"}) == "ok i64[] 0");
  CHECK(f.run({"next_shot"}) == "ok i64[] 1");
  CHECK(f.run({"next_shot"}).find("OUT_OF_RANGE") == 0);
  f.add("wrong = OneShotIterator[dataset_factory=number, output_types=[int64], "
        "output_shapes=[[]]]()");
  CHECK(f.run({"^wrong"})
            .find("The `dataset_factory` function must return a single scalar of dtype "
                  "DT_VARIANT.") != std::string::npos);
}

TEST_CASE("iterators: states are of an iterator that was begun, and of an equal dataset") {
  IteratorLines f;
  f.add("state = SerializeIterator(it)\nfed = Placeholder[dtype=variant]()");
  f.add("back = DeserializeIterator(it, fed)");
  CHECK(f.run({"state"}).find("Save() failed because the iterator has not been initialized.") !=
        std::string::npos);
  CHECK(f.run({"^make"}) == "ok");
  const auto state = f.values({"state"});
  REQUIRE(state.ok());
  IteratorLines g;
  g.add("fed = Placeholder[dtype=variant]()\nback = DeserializeIterator(it, fed)");
  g.add(testing::constant("two", "i64[] 2"));
  g.add(str_cat("t = TakeDataset", testing::of_int64, "(r, two)\nmake_t = MakeIterator(t, it)"));
  auto restored = g.values({"^back"}, {{"fed", (*state)[0]}});
  CHECK(restored.status().message().find(
            "Restore() failed because the iterator has not been initialized.") !=
        std::string::npos);
  CHECK(g.run({"^make_t"}) == "ok");
  restored = g.values({"^back"}, {{"fed", (*state)[0]}});
  CHECK(restored.status().code() == Code::data_loss);
  CHECK(restored.status().message().find("Failed to restore dataset iterator from checkpoint: ") !=
        std::string::npos);
  restored = g.values({"^back"}, {{"fed", Tensor::scalar(Variant())}});
  CHECK(restored.status().message().find("Cannot initialize an iterator from tensor") !=
        std::string::npos);
}

TEST_CASE("iterators: a function with a state of its own is no state of the iterator") {
  IteratorLines f;
  f.function("draw", "x: int64", "y",
             str_cat(testing::constant("none", "i32[0]"), testing::constant("low", "i64[] 0"),
                     testing::constant("high", "i64[] 9"),
                     "y = RandomUniformInt[seed=3, seed2=4](none, low, high)"));
  f.add("m = MapDataset[f=draw, output_types=[int64], output_shapes=[[]]](r)");
  f.add("make_m = MakeIterator(m, it)");
  f.add("strict = SerializeIterator[external_state_policy=2](it)");
  f.add("warns = SerializeIterator(it)");
  CHECK(f.run({"^make_m"}) == "ok");
  CHECK(f.run({"strict"}).find("RandomUniformInt is stateful.") != std::string::npos);
  CHECK(f.run({"^warns"}) == "ok");
}

TEST_CASE("ReduceDataset: the last state") {
  IteratorLines f;
  f.function("sum", "s: int64, x: int64, by: int64", "t", "y = Mul(x, by)\nt = AddV2(s, y)");
  f.function("two", "s: int64, x: int64", "s, x", "");
  f.add(testing::constant("five", "i64[] 5"));
  f.add("d = ReduceDataset[f=sum, Tstate=[int64], Targuments=[int64], output_types=[int64], "
        "output_shapes=[[]]](r, five, five)");
  CHECK(f.run({"d"}) == "ok i64[] 20");
  f.add("e = ReduceDataset[f=two, Tstate=[int64], Targuments=[], output_types=[int64], "
        "output_shapes=[[]]](r, five)");
  CHECK(f.run({"e"}).find("The number of components of the initial state and the reduce function "
                          "output does not match. (initial_state=1, output=2).") !=
        std::string::npos);
}

TEST_CASE("DatasetToSingleElement: one element, neither more nor less") {
  const auto run = [](std::int64_t elements) {
    testing::DatasetLines f;
    f.add(testing::range_lines("r", elements));
    f.add(str_cat("d = DatasetToSingleElement", testing::of_int64, "(r)"));
    return f.run({"d"});
  };
  CHECK(run(1) == "ok i64[] 0");
  CHECK(run(0).find("Dataset was empty.") != std::string::npos);
  CHECK(run(2).find("Dataset had more than one element.") != std::string::npos);
}

} // namespace troupe
