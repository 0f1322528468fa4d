// Skipgram, NegTrain. Expected values of Skipgram are TensorFlow 2.21's, which draws the same
// numbers; NegTrain's are of classes that can be drawn in one way alone.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "devices/file_host.hpp"
#include "kernels/framework/files.hpp"
#include "tests/support/ops/graph_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::word2vec { // files of tests are compiled together
namespace {

TROUPE_OPS_IN_GRAPHS("Skipgram");

/// A graph whose device may use a folder with a text: w0 once, w1 four times, … w9 28 times.
struct TextFolder {
  std::filesystem::path path;
  testing::GraphLines graph;
  TextFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "troupe-random-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = std::filesystem::canonical(pattern);
    auto files = open_files({path.string()});
    REQUIRE(files.ok());
    allow_files(graph.interpreter.device().device(), *files);
    std::ofstream text(path / "text");
    for (int word = 0; word < 10; ++word)
      for (int i = 0; i <= 3 * word; ++i)
        text << "w" << word << (i % 7 == 6 ? "\n" : " ");
  }
  ~TextFolder() { std::filesystem::remove_all(path); }
  void add(std::string_view name, std::string_view file, std::string_view attrs) {
    graph.add(
        str_cat(name, " = Skipgram[filename=\"", path.string(), "/", file, "\", ", attrs, "]()"));
  }
};

} // namespace

TEST_CASE("skipgram: words by how often they come, and pairs of words that are near each other") {
  TextFolder place;
  place.add("s", "text", "batch_size=8, window_size=2, min_count=4, subsample=0.0");
  CHECK(place.graph.run({"s:0", "s:1", "s:2", "s:3", "s:4", "s:5", "s:6"}) ==
        "ok str[10] \"UNK\" \"w9\" \"w8\" \"w7\" \"w6\" \"w5\" \"w4\" \"w3\" \"w2\" \"w1\" "
        "i32[10] 1 28 25 22 19 16 13 10 7 4 i64[] 145 i32[] 13 i64[] 1016 "
        "i32[8] 0 0 9 9 9 9 9 9 i32[8] 9 9 0 9 9 9 9 9");
}

TEST_CASE("skipgram: frequent words are left out now and then, and a node goes on where it was") {
  TextFolder place;
  place.add("s", "text", "batch_size=8, window_size=2, min_count=4, subsample=0.05");
  CHECK(place.graph.run({"s:3", "s:4", "s:5", "s:6"}) ==
        "ok i32[] 15 i64[] 1028 i32[8] 0 9 9 9 9 9 9 9 i32[8] 9 0 9 0 9 9 9 9");
  for (int i = 0; i < 398; ++i)
    CHECK(place.graph.run({"s:3"}).starts_with("ok"));
  CHECK(place.graph.run({"s:3", "s:4", "s:5", "s:6"}) ==
        "ok i32[] 22 i64[] 2041 i32[8] 6 6 5 5 5 5 5 5 i32[8] 5 5 6 6 5 5 6 5");
}

TEST_CASE("skipgram: texts that are too short or elsewhere, and windows of nothing, are refused") {
  TextFolder place;
  place.add("short", "text", "batch_size=8, window_size=15");
  place.add("elsewhere", "../text", "batch_size=8");
  place.add("missing", "no_text", "batch_size=8");
  place.add("window", "text", "batch_size=8, window_size=0");
  place.add("batch", "text", "batch_size=-1");
  CHECK(place.graph.fails({"short:0"}, "contains too little data: 145 words"));
  const std::string elsewhere = place.graph.run({"elsewhere:0"});
  CHECK_MESSAGE(elsewhere.starts_with("PERMISSION_DENIED"), elsewhere);
  CHECK(place.graph.run({"missing:0"}).starts_with("NOT_FOUND"));
  CHECK(place.graph.fails({"window:0"}, "window_size must be from 1 to 1000, but is 0"));
  CHECK(place.graph.fails({"batch:0"}, "batch_size must not be negative, but is -1"));
}

namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;

Attrs negatives(std::int64_t count, std::vector<std::int64_t> counts = {0, 0, 5}) {
  return {{"vocab_count", std::move(counts)}, {"num_negative_samples", count}};
}

TROUPE_OP_CASES(NegTrain) {
  const std::string in = "var f32[3,2] 1 2 .5 -1 0 1", out = "var f32[3,2] .5 .25 1 -1 2 .5";
  const auto fails = [&](std::string name, std::vector<std::string> inputs, std::string error,
                         Attrs attrs = negatives(0)) {
    return testing::OpCase{.name = std::move(name),
                           .inputs = std::move(inputs),
                           .attrs = std::move(attrs),
                           .error = std::move(error)};
  };
  return {
      {.name = "labels alone",
       .inputs = {in, out, "i32[2] 0 2", "i32[2] 1 0", "f32[] .5"},
       .attrs = negatives(0),
       .after = {{0, "f32[3,2] 1.3655293 1.6344707 .5 -1 0.10945586 1.0547279"},
                 {1, "f32[3,2] .5 0.4689117 1.3655293 -0.2689414 2 .5"}}},
      {.name = "negative examples, which are left out where they are the label",
       .inputs = {in, out, "i32[2] 0 2", "i32[2] 1 2", "f32[] .5"},
       .attrs = negatives(2),
       .after = {{0, "f32[3,2] -0.082169175 1.5433893 .5 -1 0.44997028 0.5861773"},
                 {1, "f32[3,2] .5 .25 1.3655293 -0.2689414 1.1987669 -0.72710514"}}},
      {.name = "no examples",
       .inputs = {in, out, "i32[0]", "i32[0]", "f32[] .5"},
       .attrs = negatives(2),
       .after = {{0, "f32[3,2] 1 2 .5 -1 0 1"}}},
      fails("a vector for a table", {"var f32[3] 1", "var f32[3] 1", "i32[0]", "i32[0]", "f32[] 1"},
            "Must be a matrix"),
      fails("tables of two sizes", {in, "var f32[3,1] 1", "i32[0]", "i32[0]", "f32[] 1"},
            "w_in.shape == w_out.shape"),
      fails("a matrix of examples", {in, out, "i32[1,1] 0", "i32[1,1] 0", "f32[] 1"},
            "Must be a vector"),
      fails("labels that are too few", {in, out, "i32[2] 0 1", "i32[1] 0", "f32[] 1"},
            "examples.shape == labels.shape"),
      fails("a vector of rates", {in, out, "i32[1] 0", "i32[1] 0", "f32[1] 1"}, "Must be a scalar"),
      fails("another vocabulary", {in, out, "i32[1] 0", "i32[1] 0", "f32[] 1"},
            "vocab_size mismatches: 3 vs. 2", negatives(0, {1, 2})),
      fails("an example out of it", {in, out, "i32[1] 3", "i32[1] 0", "f32[] 1"},
            "Example 3 is not in the vocabulary of 3 words"),
      fails("a label out of it", {in, out, "i32[1] 0", "i32[1] -1", "f32[] 1"},
            "Label -1 is not in the vocabulary of 3 words"),
      fails("a vocabulary that nobody used", {in, out, "i32[1] 0", "i32[1] 0", "f32[] 1"},
            "vocab_count must have a class that was seen", negatives(0, {0, 0, 0})),
      fails("counts below 0", {in, out, "i32[1] 0", "i32[1] 0", "f32[] 1"},
            "vocab_count must be counts, but has -1", negatives(0, {-1, 0, 3})),
      fails("fewer than no negatives", {in, out, "i32[1] 0", "i32[1] 0", "f32[] 1"},
            "num_negative_samples must not be negative, but is -1", negatives(-1)),
  };
}

} // namespace
} // namespace troupe::word2vec
