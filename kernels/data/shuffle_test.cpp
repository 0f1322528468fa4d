// ShuffleDataset (versions 1 to 3), ShuffleAndRepeatDataset (1 and 2), RandomDataset (1 and 2) and
// SamplingDataset in graphs: number for number as TensorFlow's, and generators of seeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/ops/dataset_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("ShuffleDataset ShuffleDatasetV2 ShuffleDatasetV3 ShuffleAndRepeatDataset",
                     "ShuffleAndRepeatDatasetV2 RandomDataset RandomDatasetV2 SamplingDataset",
                     "AnonymousSeedGenerator AnonymousRandomSeedGenerator DummySeedGenerator",
                     "DeleteSeedGenerator DeleteRandomSeedGenerator");

namespace troupe {
namespace {

struct GoldenDataset {
  std::string op, attrs;
  std::vector<std::string> inputs;
  std::string count, rounds;
  std::vector<std::string> elements;
};

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view word : str_split(text, ' '))
    if (!word.empty())
      out.emplace_back(word);
  return out;
}

std::vector<GoldenDataset> golden_datasets() {
  std::ifstream file(TROUPE_GOLDEN_DIR "/dataset_values.tsv");
  REQUIRE(file.good());
  std::vector<GoldenDataset> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#'))
      continue;
    const auto fields = str_split(line, '\t');
    REQUIRE(fields.size() == 6);
    GoldenDataset row;
    row.op = fields[0];
    row.inputs = words_in(fields[1]);
    row.attrs = fields[2];
    row.count = fields[3];
    row.rounds = fields[4];
    for (const std::string& word : words_in(fields[5]))
      row.elements.push_back("i64[] " + word);
    out.push_back(std::move(row));
  }
  return out;
}

/// Lines that make the dataset `d` of a row; `more` follows the inputs.
std::string lines_of(const GoldenDataset& row, std::string_view op, std::string_view more = "") {
  std::string out, inputs;
  if (!row.count.empty()) {
    out = testing::range_lines("r", std::stoll(row.count));
    inputs = "r, ";
  }
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    const bool is_rate = row.inputs[i].find('.') != std::string::npos;
    const std::string name = str_cat("in", i);
    out += testing::constant(name, str_cat(is_rate ? "f32[] " : "i64[] ", row.inputs[i]));
    str_append(inputs, i ? ", " : "", name);
  }
  str_append(out, testing::constant("rounds", "i64[] " + row.rounds), "one = ", op,
             "[output_types=[int64], output_shapes=[[]]", row.attrs.empty() ? "" : ", ", row.attrs,
             "](", inputs, more, ")\n");
  str_append(out, "d = RepeatDataset", testing::of_int64, "(one, rounds)\n");
  return out;
}

std::vector<std::string> sorted(std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace

TEST_CASE("random datasets: TensorFlow's numbers, also from where an iterator was saved") {
  std::size_t number = 0;
  for (const GoldenDataset& row : golden_datasets()) {
    CAPTURE(row.op);
    CAPTURE(str_join(row.inputs, " "));
    testing::DatasetLines f;
    f.add(lines_of(row, row.op));
    ++number;
    if (row.op == "RandomDataset")
      f.check("one", row.elements, {.cardinality = "-1"});
    else if (row.op == "SamplingDataset")
      f.check("one", row.elements, {.cardinality = "-2"});
    else
      CHECK(f.elements("d", row.elements.size()) == row.elements);
  }
  CHECK(number > 60);
}

TEST_CASE("shuffles: saved in any epoch they go on with the same order") {
  for (const char* reshuffles : {"true", "false"}) {
    testing::DatasetLines f;
    f.add(testing::range_lines("r", 7));
    for (const char* n : {"3", "5"})
      f.add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    f.add(str_cat("d = ShuffleAndRepeatDataset[output_types=[int64], output_shapes=[[]], "
                  "reshuffle_each_iteration=",
                  reshuffles, "](r, n3, n3, n5, n3)"));
    const auto all = f.elements("d");
    CHECK(all.size() == 21);
    f.check("d", all);
  }
}

TEST_CASE(
    "shuffles: a dataset joined with itself over and over is refused, not made a million times") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 2));
  f.add(testing::constant("n2", "i64[] 2"));
  f.add(str_cat("d0 = ShuffleDataset", testing::of_int64, "(r, n2, n2, n2)"));
  for (int i = 0; i < 20; ++i)
    f.add(str_cat("d", i + 1, " = ConcatenateDataset", testing::of_int64, "(d", i, ", d", i, ")"));
  f.add("it = IteratorV2[output_types=[int64], output_shapes=[[]], shared_name=\"\", "
        "container=\"\"]()\nmake = MakeIterator(d20, it)");
  CHECK(f.run({"^make"}).find("RESOURCE_EXHAUSTED") == 0);
}

TEST_CASE("shuffles: newer versions give what the first does for the same seeds") {
  for (const GoldenDataset& row : golden_datasets()) {
    const bool is_shuffle = row.op == "ShuffleDataset";
    if (!is_shuffle && row.op != "ShuffleAndRepeatDataset")
      continue;
    testing::DatasetLines f;
    f.add("none = DummySeedGenerator()");
    f.add(lines_of(row, is_shuffle ? "ShuffleDatasetV3" : "ShuffleAndRepeatDatasetV2", ", none"));
    CHECK(f.elements("d", row.elements.size()) == row.elements);
    if (!is_shuffle)
      continue;
    testing::DatasetLines g;
    g.add(str_cat("on = Const[dtype=bool, value=bool[] ",
                  row.attrs.ends_with("true") ? "true" : "false", "]()"));
    g.add(lines_of(row, "ShuffleDatasetV3", ", seeds"));
    g.add("seeds = AnonymousSeedGenerator(in1, in2, on)");
    CHECK(g.elements("d", row.elements.size()) == row.elements);
    testing::DatasetLines h;
    h.add(str_cat("on = Const[dtype=bool, value=bool[] ",
                  row.attrs.ends_with("true") ? "true" : "false", "]()"));
    GoldenDataset second = row;
    second.attrs = "";
    second.inputs.resize(1);
    h.add(lines_of(second, "ShuffleDatasetV2", ", seeds"));
    h.add(testing::constant("in1", "i64[] " + row.inputs[1]));
    h.add(testing::constant("in2", "i64[] " + row.inputs[2]));
    h.add("seeds = AnonymousSeedGenerator(in1, in2, on)");
    CHECK(h.elements("d", row.elements.size()) == row.elements);
  }
}

TEST_CASE("shuffles: without seeds the order is any, and another each time") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 40));
  f.add(testing::constant("all", "i64[] 40"));
  f.add(testing::constant("zero", "i64[] 0"));
  f.add(testing::constant("two", "i64[] 2"));
  f.add(str_cat("s = ShuffleDataset", testing::of_int64, "(r, all, zero, zero)"));
  f.add(str_cat("d = RepeatDataset", testing::of_int64, "(s, two)"));
  const auto once = f.elements("d");
  REQUIRE(once.size() == 80);
  const std::vector<std::string> first(once.begin(), once.begin() + 40),
      second(once.begin() + 40, once.end());
  CHECK(first != second);
  CHECK(sorted(first) == sorted(second));
  CHECK(sorted(first) == sorted(f.elements("r")));
  CHECK(f.elements("d") != once);
}

TEST_CASE("shuffles: a buffer as large as an input of unknown size") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 5));
  f.add(testing::constant("unknown", "i64[] -2"));
  f.add(testing::constant("one", "i64[] 1"));
  f.add(str_cat("d = ShuffleDataset", testing::of_int64, "(r, unknown, one, one)"));
  CHECK(sorted(f.elements("d")) == f.elements("r"));
}

TEST_CASE("shuffles: an input without elements ends, however often it is repeated") {
  testing::DatasetLines f;
  f.add(testing::range_lines("r", 0));
  f.add(testing::constant("one", "i64[] 1"));
  f.add(testing::constant("ever", "i64[] -1"));
  f.add(str_cat("s = ShuffleDataset", testing::of_int64, "(r, one, one, one)"));
  f.add(str_cat("d = ShuffleAndRepeatDataset", testing::of_int64, "(r, one, one, one, ever)"));
  f.check("s", {});
  CHECK(f.elements("d").empty());
}

TEST_CASE("shuffles: what is refused") {
  const auto refused = [](std::string_view op, std::string_view inputs, std::string_view text) {
    testing::DatasetLines f;
    f.add(testing::range_lines("r", 3));
    f.add(testing::constant("zero", "i64[] 0"));
    f.add(testing::constant("one", "i64[] 1"));
    f.add(testing::constant("pair", "i64[2] 1 2"));
    f.add(str_cat("d = ", op, testing::of_int64, "(r, ", inputs, ")"));
    f.check_refused("d", text);
  };
  refused("ShuffleDataset", "zero, one, one",
          "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  refused("ShuffleDataset", "pair, one, one", "buffer_size");
  refused("ShuffleDataset", "one, pair, one", "seed");
  refused("ShuffleAndRepeatDataset", "one, one, one, zero",
          "count must be greater than zero or equal to -1.");
}

TEST_CASE("RandomDatasetV2: other numbers in each iteration where it is asked for") {
  for (const bool other : {true, false}) {
    testing::DatasetLines f;
    for (const char* n : {"1", "2", "3"})
      f.add(testing::constant(str_cat("n", n), str_cat("i64[] ", n)));
    f.add("none = DummySeedGenerator()");
    f.add(str_cat("r = RandomDatasetV2[output_types=[int64], output_shapes=[[]], "
                  "rerandomize_each_iteration=",
                  other ? "true" : "false", "](n1, n2, none)"));
    f.add(str_cat("t = TakeDataset", testing::of_int64, "(r, n3)"));
    f.add(str_cat("d = RepeatDataset", testing::of_int64, "(t, n2)"));
    const auto got = f.elements("d");
    REQUIRE(got.size() == 6);
    CHECK((got[0] == got[3]) == !other);
  }
}

TEST_CASE("seed generators: who has the handle of a deleted one finds nothing") {
  for (const char* kind : {"SeedGenerator", "RandomSeedGenerator"}) {
    testing::DatasetLines f;
    f.add(testing::constant("one", "i64[] 1"));
    f.add(testing::constant("on", "bool[] true"));
    f.add(str_cat("g = Anonymous", kind, kind[0] == 'S' ? "(one, one, on)" : "(one, one)"));
    f.add(str_cat("gone = Delete", kind, "(g, g:1)"));
    f.add(str_cat("twice = Delete", kind, "(g, g:1) ^gone"));
    CHECK(f.run({"^gone"}) == "ok");
    CHECK(f.run({"^twice"}).find("NOT_FOUND") != std::string::npos);
  }
}

} // namespace troupe
