// Batch, Unbatch, UnbatchGrad and BatchFunction through a session in this process: steps that run
// at the same time share a batch.
#include <doctest/doctest.h>

#include "api/session.hpp"
#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"

namespace troupe::batch_test {

namespace {

std::string attr(std::string_view name, std::string_view value) {
  return str_cat("attr { key: '", name, "' value { ", value, " } } ");
}

std::string node(std::string_view name, std::string_view op, std::vector<std::string> inputs,
                 std::string_view attrs) {
  std::string out = str_cat("node { name: '", name, "' op: '", op, "' ");
  for (const std::string& input : inputs)
    str_append(out, "input: '", input, "' ");
  return str_cat(out, attrs, " }\n");
}

std::string placeholder(std::string_view name, std::string_view dtype = "DT_INT32") {
  return node(name, "Placeholder", {}, attr("dtype", str_cat("type: ", dtype)));
}

/// Counts of a node that batches; the time is long enough for all steps of a test.
struct Counts {
  int rows = 4;
  std::int64_t micros = 600'000'000;
  std::string more = {};
  int threads = 1;
  std::string text() const {
    return attr("num_batch_threads", str_cat("i: ", threads)) +
           attr("max_batch_size", str_cat("i: ", rows)) +
           attr("batch_timeout_micros", str_cat("i: ", micros)) + more;
  }
};

std::string batch(const Counts& numbers) {
  return node("b", "Batch", {"x"},
              numbers.text() + attr("grad_timeout_micros", "i: 0") +
                  attr("T", "list { type: DT_INT32 }"));
}

std::string sum(std::string_view name, std::string_view a, std::string_view b) {
  return node(name, "AddV2", {std::string(a), std::string(b)}, attr("T", "type: DT_INT32"));
}

/// f(x, y) = x + rows of x + y; `wrong` instead of it.
std::string library(std::string_view wrong = {}) {
  const std::string size = attr("T", "type: DT_INT32") + attr("out_type", "type: DT_INT32");
  return str_cat(
      "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_INT32 } "
      "input_arg { name: 'y' type: DT_INT32 } output_arg { name: 'out' type: DT_INT32 } } "
      "node_def { name: 'n' op: 'Size' input: 'x' ",
      size, "} node_def { name: 'a' op: 'AddV2' input: 'x' input: 'n:output:0' ",
      attr("T", "type: DT_INT32"), "} node_def { name: 's' op: 'AddV2' input: 'a:z:0' input: 'y' ",
      attr("T", "type: DT_INT32"), "} ret { key: 'out' value: '", wrong.empty() ? "s:z:0" : wrong,
      "' } } }\n");
}

std::string batch_function(const Counts& numbers, std::vector<std::string> inputs = {"x", "y"}) {
  return node("b", "BatchFunction", inputs,
              numbers.text() + attr("f", "func { name: 'f' }") +
                  attr("Tin", "list { type: DT_INT32 }") +
                  attr("Tcaptured", inputs.size() > 1 ? "list { type: DT_INT32 }" : "list { }") +
                  attr("Tout", "list { type: DT_INT32 }"));
}

Tensor lit(std::string_view text) {
  auto tensor = parse_literal(text);
  REQUIRE_MESSAGE(tensor.ok(), tensor.status().to_string());
  return *std::move(tensor);
}

struct Fixture {
  explicit Fixture(const std::string& graph) {
    auto opened = Session::open("local");
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    session = std::make_unique<Session>(*std::move(opened));
    const Status extended = session->extend_graph_def(graph);
    REQUIRE_MESSAGE(extended.ok(), extended.to_string());
  }
  PendingRun begin(const std::string& x, const std::vector<std::string>& fetches,
                   const std::string& y = "i32[] 0") {
    return session->run_async({{"x", lit(x)}, {"y", lit(y)}}, fetches);
  }
  /// The values, or the error.
  static std::string text(PendingRun& run) {
    auto values = run.get();
    if (!values.ok())
      return values.status().to_string();
    std::vector<std::string> out;
    for (const Tensor& value : *values)
      out.push_back(to_literal(value));
    return str_join(out, ", ");
  }
  std::string run(const std::string& x, const std::vector<std::string>& fetches) {
    PendingRun one = begin(x, fetches);
    return text(one);
  }
  /// Returns once the only step waits in this node.
  void until_it_waits_for(const std::string& name) {
    for (std::string text; text.find(str_cat("'", name, "'")) == std::string::npos;) {
      auto report = session->why();
      REQUIRE_MESSAGE(report.ok(), report.status().to_string());
      text = report->to_text();
    }
  }
  std::unique_ptr<Session> session;
};

bool has(const std::string& text, std::string_view piece) {
  const bool found = text.find(piece) != std::string::npos;
  if (!found)
    MESSAGE(text);
  return found;
}

const std::string inputs = placeholder("x") + placeholder("y");

} // namespace

TEST_CASE("batch: of two steps that fill it one gets the batch, the other no rows") {
  Fixture f(inputs + batch({.rows = 2}));
  PendingRun first = f.begin("i32[1] 1", {"b", "b:1", "b:2"});
  auto second = f.begin("i32[1] 2", {"b", "b:1", "b:2"}).get();
  auto other = first.get();
  REQUIRE_MESSAGE(other.ok(), other.status().to_string());
  REQUIRE_MESSAGE(second.ok(), second.status().to_string());
  const bool second_has_it = (*second)[0].num_elements() > 0;
  const std::vector<Tensor>&with = second_has_it ? *second : *other,
        &without = second_has_it ? *other : *second;
  CHECK(to_literal(with[0]) == (second_has_it ? "i32[2] 1 2" : "i32[2] 2 1"));
  CHECK(to_literal(without[0]) == "i32[0]");
  CHECK(to_literal(without[1]) == "i64[0,3]");
  const auto index = with[1].data<std::int64_t>();
  REQUIRE(index.size() == 6);
  CHECK(index[0] == without[2].value<std::int64_t>());
  CHECK(index[3] == with[2].value<std::int64_t>());
  CHECK(std::vector(index.begin() + 1, index.begin() + 3) == std::vector<std::int64_t>{0, 1});
  CHECK(std::vector(index.begin() + 4, index.end()) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("batch: one that is not full goes when its time is over, padded with its first row") {
  Fixture f(inputs + batch({.rows = 5,
                            .micros = 1000,
                            .more = attr("allowed_batch_sizes", "list { i: 3 i: 5 }")}));
  CHECK(f.run("i32[2] 7 8", {"b"}) == "i32[3] 7 8 7");
  CHECK(f.run("i32[0]", {"b", "b:1"}) == "i32[0], i64[0,3]");
}

TEST_CASE("batch: each step gets its rows of what was computed of the batch") {
  const std::string unbatch =
      node("u", "Unbatch", {"s", "b:1", "b:2"},
           attr("timeout_micros", "i: 600000000") + attr("T", "type: DT_INT32"));
  Fixture f(inputs + batch({.rows = 3}) + sum("s", "b", "b") + unbatch);
  PendingRun first = f.begin("i32[1] 1", {"u"});
  CHECK(f.run("i32[2] 2 3", {"u"}) == "i32[2] 4 6");
  CHECK(Fixture::text(first) == "i32[1] 2");
}

TEST_CASE("batch: rows that nobody brings are waited for until the timeout") {
  const std::string unbatch = placeholder("index", "DT_INT64") + placeholder("id", "DT_INT64") +
                              node("u", "Unbatch", {"x", "index", "id"},
                                   attr("timeout_micros", "i: 1000") + attr("T", "type: DT_INT32"));
  Fixture f(inputs + unbatch);
  const auto run = [&](const std::string& x, const std::string& index, const std::string& id) {
    auto values = f.session->run({{"x", lit(x)}, {"index", lit(index)}, {"id", lit(id)}}, {"u"});
    return values.ok() ? to_literal((*values)[0]) : values.status().to_string();
  };
  CHECK(has(run("i32[0]", "i64[0,3]", "i64[] 5"), "DEADLINE_EXCEEDED"));
  CHECK(run("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 1 3", "i64[] 6") == "i32[2] 2 3");
  CHECK(has(run("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 1 4", "i64[] 6"), "INVALID_ARGUMENT"));
  CHECK(has(run("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 2 3", "i64[] 6"), "one after the other"));
  CHECK(has(run("i32[1] 1", "i64[2,3] 5 0 1 6 1 1", "i64[] 6"), "no greater than 1"));
}

TEST_CASE("batch: gradients of rows come together again") {
  const std::string grad =
      placeholder("index", "DT_INT64") + placeholder("id", "DT_INT64") +
      node("g", "UnbatchGrad", {"x", "index", "y", "id"}, attr("T", "type: DT_INT32"));
  Fixture f(inputs + grad);
  const auto begin = [&](const std::string& x, const std::string& index, const std::string& y,
                         const std::string& id) {
    return f.session->run_async(
        {{"x", lit(x)}, {"index", lit(index)}, {"y", lit(y)}, {"id", lit(id)}}, {"g"});
  };
  PendingRun whole = begin("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 1 3", "i32[2] 20 30", "i64[] 6");
  PendingRun other = begin("i32[0]", "i64[0,3]", "i32[1] 10", "i64[] 5");
  CHECK(Fixture::text(other) == "i32[0]");
  CHECK(Fixture::text(whole) == "i32[3] 10 20 30");
  PendingRun unwanted = begin("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 1 3", "i32[2] 1 1", "i64[] 6");
  f.until_it_waits_for("g");
  unwanted.cancel();
  CHECK(has(Fixture::text(unwanted), "CANCELLED"));
  whole = begin("i32[3] 1 2 3", "i64[2,3] 5 0 1 6 1 3", "i32[2] 50 60", "i64[] 6");
  other = begin("i32[0]", "i64[0,3]", "i32[1] 40", "i64[] 5");
  CHECK(Fixture::text(other) == "i32[0]");
  CHECK(Fixture::text(whole) == "i32[3] 40 50 60");
}

TEST_CASE("batch: a function is called once for the rows of two steps") {
  Fixture f(inputs + library() + batch_function({.rows = 3}));
  PendingRun first = f.begin("i32[2] 10 20", {"b"}, "i32[] 100");
  PendingRun second = f.begin("i32[1] 30", {"b"}, "i32[] 100");
  CHECK(Fixture::text(first) == "i32[2] 113 123"); // 3 rows
  CHECK(Fixture::text(second) == "i32[1] 133");
  CHECK(f.run("i32[0]", {"b"}) == "i32[0]");
}

TEST_CASE("batch: a request larger than a batch is split, and its results come in order") {
  const std::string more = attr("enable_large_batch_splitting", "b: true") +
                           attr("allowed_batch_sizes", "list { i: 1 i: 2 }");
  Fixture f(inputs + library() +
            batch_function({.rows = 5, .micros = 1000, .more = more, .threads = 3}));
  CHECK(f.run("i32[5] 10 20 30 40 50", {"b"}) == "i32[5] 12 22 32 42 51");
  CHECK(has(f.run("i32[6] 1 2 3 4 5 6", {"b"}), "larger than maximum input batch size 5"));
}

TEST_CASE("batch: without a number of threads requests are split, too") {
  Fixture f(inputs + library() + batch_function({.rows = 3, .threads = 0}));
  std::vector<PendingRun> runs;
  for (int i = 0; i < 3; ++i) // two batches of three rows, whatever their order
    runs.push_back(f.begin("i32[2] 10 20", {"b"}));
  for (PendingRun& run : runs)
    CHECK(Fixture::text(run) == "i32[2] 13 23");
}

TEST_CASE("batch: an error of the function is every step's") {
  const std::string rows = "Batched output tensor";
  Fixture scalar(inputs + library("n:output:0") + batch_function({.rows = 2}));
  PendingRun first = scalar.begin("i32[1] 1", {"b"});
  PendingRun second = scalar.begin("i32[1] 2", {"b"});
  CHECK(has(Fixture::text(first), rows));
  CHECK(has(Fixture::text(second), rows));
}

TEST_CASE("batch: a step that is cancelled leaves its batch, the others go on") {
  Fixture f(inputs + batch({.rows = 3}));
  PendingRun unwanted = f.begin("i32[2] 1 1", {"b"});
  f.until_it_waits_for("b");
  unwanted.cancel();
  CHECK(has(Fixture::text(unwanted), "CANCELLED"));
  PendingRun first = f.begin("i32[1] 5", {"b"});
  f.until_it_waits_for("b");
  CHECK(f.run("i32[2] 6 7", {"b"}) == "i32[3] 5 6 7");
  CHECK(Fixture::text(first) == "i32[0]");
}

TEST_CASE("batch: a call that no step wants any more is cancelled, and makes room for the next") {
  const auto area = [](std::string_view name) {
    return attr("dtypes", "list { type: DT_INT32 }") +
           attr("shared_name", str_cat("s: '", name, "'"));
  };
  const std::string waits = str_cat(
      "library { function { signature { name: 'f' input_arg { name: 'x' type: DT_INT32 } "
      "output_arg { name: 'out' type: DT_INT32 } } node_def { name: 's' op: 'Stage' input: 'x' ",
      area("begun"), "} node_def { name: 'u' op: 'Unstage' input: '^s' ", area("go"),
      "} ret { key: 'out' value: 'u:values:0' } } }\n");
  Fixture f(inputs + waits + batch_function({.rows = 1}, {"x"}) +
            node("begun", "Unstage", {}, area("begun")) + node("go", "Stage", {"x"}, area("go")));
  PendingRun unwanted = f.begin("i32[1] 1", {"b"});
  CHECK(f.run("i32[1] 0", {"begun"}) == "i32[1] 1");
  unwanted.cancel();
  CHECK(has(Fixture::text(unwanted), "CANCELLED"));
  PendingRun next = f.begin("i32[1] 2", {"b"});
  PendingRun begun = f.begin("i32[1] 0", {"begun"});
  REQUIRE(begun.wait_for(std::chrono::minutes(1)));
  CHECK(Fixture::text(begun) == "i32[1] 2");
  REQUIRE(f.session->run({{"x", lit("i32[1] 7")}}, {}, {"go"}).ok());
  REQUIRE(next.wait_for(std::chrono::minutes(1)));
  CHECK(Fixture::text(next) == "i32[1] 7");
}

TEST_CASE("batch: sessions close while steps wait for a batch") {
  Fixture f(inputs + batch({.rows = 3}));
  PendingRun waits = f.begin("i32[1] 1", {"b"});
  REQUIRE(f.session->close().ok());
  CHECK_FALSE(waits.get().ok());
}

TEST_CASE("batch: what makes no sense is refused") {
  CHECK(has(Fixture(inputs + batch({})).run("i32[] 1", {"b"}), "at least one dimension"));
  CHECK(has(Fixture(inputs + batch({.rows = 0})).run("i32[1] 1", {"b"}), "max_batch_size"));
  CHECK(
      has(Fixture(inputs + batch({.micros = -1})).run("i32[1] 1", {"b"}), "batch_timeout_micros"));
  CHECK(has(Fixture(inputs + batch({.threads = 0})).run("i32[1] 1", {"b"}), "num_batch_threads"));
  for (const char* sizes : {"list { i: 3 }", "list { i: 4 i: 4 }", "list { i: -1 i: 4 }"})
    CHECK(has(Fixture(inputs + batch({.more = attr("allowed_batch_sizes", sizes)}))
                  .run("i32[1] 1", {"b"}),
              "allowed_batch_sizes"));
  CHECK(has(Fixture(inputs + library() + batch_function({}, {"x"})).run("i32[1] 1", {"b"}),
            "Function takes 2 argument(s) but 1 argument(s) were passed"));
  const std::string two = node("b", "Batch", {"x", "y"},
                               Counts{}.text() + attr("grad_timeout_micros", "i: 0") +
                                   attr("T", "list { type: DT_INT32 type: DT_INT32 }"));
  Fixture f(inputs + two);
  PendingRun uneven = f.begin("i32[1] 1", {"b"}, "i32[2] 1 2");
  CHECK(has(Fixture::text(uneven), "must have equal 0th-dimension size"));
}

} // namespace troupe::batch_test
