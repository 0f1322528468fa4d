// Iterators that deal elements to several devices, and what is known of batches.
#include <thread>

#include <doctest/doctest.h>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("MultiDeviceIterator MultiDeviceIteratorInit",
                     "MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorToStringHandle",
                     "MultiDeviceIteratorFromStringHandle ComputeBatchSize");

namespace troupe {
namespace {

struct DealtLines : testing::DatasetLines {
  explicit DealtLines(std::int64_t most = 1) {
    add(testing::range_lines("r", 7));
    add(testing::range_lines("short", 1));
    add("it = MultiDeviceIterator[devices=[\"/cpu:0\", \"/cpu:1\"], output_types=[int64], "
        "output_shapes=[[]], shared_name=\"\", container=\"\"]()");
    add(testing::constant("most", str_cat("i64[] ", most)));
    add("init = MultiDeviceIteratorInit(r, it, most)");
    add("again = MultiDeviceIteratorInit(short, it, most)");
    for (int shard : {-1, 0, 1, 2}) {
      const std::string name = shard < 0 ? "none" : str_cat("d", shard);
      add(testing::constant(str_cat("n_", name), str_cat("i32[] ", shard)));
      add(str_cat(name, " = MultiDeviceIteratorGetNextFromShard", testing::of_int64, "(it, n_",
                  name, ", incarnation)"));
    }
    add("incarnation = Placeholder[dtype=int64]()");
  }
  std::string next(const std::string& shard, std::int64_t incarnation = 1) {
    const auto got = values({shard}, {{"incarnation", Tensor::scalar(incarnation)}});
    return got.ok() ? (*got)[0].to_string() : got.status().to_string();
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

} // namespace

TEST_CASE("multi-device iterators: elements are dealt in turn, whoever asks first") {
  DealtLines f(2);
  CHECK(f.run({"init"}) == "ok i64[] 1");
  CHECK(f.next("d1") == "i64[] 1");
  CHECK(f.next("d1") == "i64[] 3"); // two of the other's wait
  CHECK(f.next("d0") == "i64[] 0");
  CHECK(f.next("d0") == "i64[] 2");
  CHECK(f.next("d0") == "i64[] 4");
  CHECK(f.next("d0") == "i64[] 6");
  CHECK(has(f.next("d0"), "OUT_OF_RANGE"));
  CHECK(f.next("d1") == "i64[] 5");
  CHECK(has(f.next("d1"), "End of sequence"));
  CHECK(has(f.next("d0"), "End of sequence"));
}

TEST_CASE("multi-device iterators: begun anew, the old incarnation gets nothing") {
  DealtLines f;
  CHECK(has(f.next("d0"), "FAILED_PRECONDITION"));
  CHECK(f.run({"init"}) == "ok i64[] 1");
  CHECK(f.next("d0") == "i64[] 0");
  CHECK(f.run({"again"}) == "ok i64[] 2");
  CHECK(has(f.next("d0"), "Invalid incarnation id. Provided: 1; Expected: 2"));
  CHECK(f.next("d0", 2) == "i64[] 0");
  CHECK(has(f.next("d1", 2), "End of sequence"));
}

TEST_CASE("multi-device iterators: there is no device of another number") {
  DealtLines f;
  CHECK(f.run({"init"}) == "ok i64[] 1");
  CHECK(has(f.next("none"), "shard_num is -1, and there are 2 devices"));
  CHECK(has(f.next("d2"), "shard_num is 2, and there are 2 devices"));
}

TEST_CASE(
    "multi-device iterators: who waits for another device's room goes on when there is some") {
  DealtLines f(1);
  CHECK(f.run({"init"}) == "ok i64[] 1");
  CHECK(f.next("d1") == "i64[] 1"); // element 0 waits for the other device, and fills its room
  std::string later;
  std::thread waiting([&] { later = f.next("d1"); });
  CHECK(f.next("d0") == "i64[] 0");
  waiting.join();
  CHECK(later == "i64[] 3");
  CHECK(f.next("d0") == "i64[] 2");
}

TEST_CASE("multi-device iterators: handles as texts") {
  DealtLines f;
  f.add("text = MultiDeviceIteratorToStringHandle(it)\nfed = Placeholder[dtype=string]()");
  f.add("from = MultiDeviceIteratorFromStringHandle[output_types=[int64], "
        "output_shapes=[[]]](fed)");
  f.add("wrong = MultiDeviceIteratorFromStringHandle[output_types=[float], "
        "output_shapes=[[]]](fed)");
  f.add(str_cat("other = MultiDeviceIteratorGetNextFromShard", testing::of_int64,
                "(from, n_d0, incarnation)"));
  CHECK(f.run({"init"}) == "ok i64[] 1");
  const auto text = f.values({"text"});
  REQUIRE(text.ok());
  const auto got =
      f.values({"other"}, {{"fed", (*text)[0]}, {"incarnation", Tensor::scalar(std::int64_t{1})}});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  CHECK((*got)[0].to_string() == "i64[] 0");
  CHECK(f.values({"^wrong"}, {{"fed", (*text)[0]}}).status().code() == Code::invalid_argument);
  CHECK(f.values({"^from"}, {{"fed", Tensor::scalar(std::string("\xff"))}}).status().code() ==
        Code::invalid_argument);
}

TEST_CASE("batch sizes: known where the nodes tell them") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 7));
  f.add(testing::constant("three", "i64[] 3"));
  f.add(testing::constant("two", "i64[] 2"));
  f.add(testing::constant("no", "bool[] false"));
  const std::string rows = "[output_types=[int64], output_shapes=[[?]]]";
  f.add(str_cat("b = BatchDatasetV2", rows, "(r, three, no)"));
  f.add(str_cat("b2 = BatchDatasetV2", rows, "(r, two, no)"));
  f.add(str_cat("taken = TakeDataset", rows, "(b, two)"));
  f.add(str_cat("joined = ConcatenateDataset", rows, "(b, taken)"));
  f.add(str_cat("mixed = ConcatenateDataset", rows, "(b, b2)"));
  for (const char* name : {"r", "b", "taken", "joined", "mixed"})
    f.add(str_cat("of_", name, " = ComputeBatchSize(", name, ")"));
  CHECK(f.run({"of_r", "of_b", "of_taken", "of_joined", "of_mixed"}) ==
        "ok i64[] -1 i64[] 3 i64[] 3 i64[] 3 i64[] -1");
}

} // namespace troupe
