#include "core/base/status.hpp"

#include <doctest/doctest.h>

#include "core/base/random.hpp"

using namespace troupe;

namespace {

Result<int> half(int x) {
  if (x % 2)
    return invalid_argument("odd");
  return x / 2;
}

Result<int> quarter(int x) {
  TROUPE_ASSIGN(int h, half(x));
  TROUPE_ASSIGN(int q, half(h));
  return q;
}

Status is_divisible_by_four(int x) {
  TROUPE_TRY(quarter(x).status());
  return {};
}

} // namespace

TEST_CASE("status: ok has no text and prints OK") {
  Status s;
  CHECK(s.ok());
  CHECK(s.code() == Code::ok);
  CHECK(s.message().empty());
  CHECK(s.to_string() == "OK");
  CHECK(s.with_context("reading").ok());
  CHECK(s.with_origin({.node = "x", .op = "", .device = "", .step = 0}).ok());
  CHECK_FALSE(s.as_derived().derived());
}

TEST_CASE("status: every code has its maker, its number and TensorFlow's name") {
  struct Row {
    Status status;
    int number;
    const char* name;
  };
  const Row rows[] = {
      {cancelled("m"), 1, "CANCELLED"},
      {unknown("m"), 2, "UNKNOWN"},
      {invalid_argument("m"), 3, "INVALID_ARGUMENT"},
      {deadline_exceeded("m"), 4, "DEADLINE_EXCEEDED"},
      {not_found("m"), 5, "NOT_FOUND"},
      {already_exists("m"), 6, "ALREADY_EXISTS"},
      {permission_denied("m"), 7, "PERMISSION_DENIED"},
      {resource_exhausted("m"), 8, "RESOURCE_EXHAUSTED"},
      {failed_precondition("m"), 9, "FAILED_PRECONDITION"},
      {aborted("m"), 10, "ABORTED"},
      {out_of_range("m"), 11, "OUT_OF_RANGE"},
      {unimplemented("m"), 12, "UNIMPLEMENTED"},
      {internal("m"), 13, "INTERNAL"},
      {unavailable("m"), 14, "UNAVAILABLE"},
      {data_loss("m"), 15, "DATA_LOSS"},
      {Status(Code::unauthenticated, "m"), 16, "UNAUTHENTICATED"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(static_cast<int>(row.status.code()) == row.number);
    CHECK(to_string(row.status.code()) == row.name);
    CHECK(row.status.to_string() == std::string(row.name) + ": m");
    CHECK_FALSE(row.status.ok());
  }
  CHECK(to_string(static_cast<Code>(99)) == "UNKNOWN");
}

TEST_CASE("status: the first origin stays") {
  Status bare = not_found("no such file");
  Status first = bare.with_origin({"read", "ReadFile", "/job:w/replica:0/task:1/device:CPU:0", 7});
  Status second = first.with_origin({"later", "", "", 8});
  CHECK(bare.origin().empty());
  CHECK(second.origin().node == "read");
  CHECK(second.to_string() == "NOT_FOUND: no such file [node 'read' (ReadFile) on "
                              "/job:w/replica:0/task:1/device:CPU:0, step 7]");
  CHECK(bare.with_origin({"", "", "", 3}).to_string() == "NOT_FOUND: no such file [step 3]");
  CHECK(bare.with_origin({"n", "", "", 3}).to_string() ==
        "NOT_FOUND: no such file [node 'n', step 3]");
}

TEST_CASE("status: context precedes the message and keeps code, origin and derivedness") {
  Status s = aborted("gone").with_origin({"n", "", "", 0}).as_derived().with_context("task 3");
  CHECK(s.code() == Code::aborted);
  CHECK(s.message() == "task 3: gone");
  CHECK(s.origin().node == "n");
  CHECK(s.derived());
}

TEST_CASE("status: equality is of code and message") {
  CHECK(aborted("a") == aborted("a").as_derived());
  CHECK_FALSE(aborted("a") == aborted("b"));
  CHECK_FALSE(aborted("a") == unknown("a"));
  CHECK(Status() == Status());
}

TEST_CASE("result: values and errors travel through the macros") {
  REQUIRE(quarter(12).ok());
  CHECK(*quarter(12) == 3);
  CHECK(quarter(12).status().ok());
  CHECK(quarter(6).status() == invalid_argument("odd"));
  CHECK(is_divisible_by_four(8).ok());
  CHECK_FALSE(is_divisible_by_four(7).ok());
  Result<std::unique_ptr<int>> moved = std::make_unique<int>(5);
  std::unique_ptr<int> out = *std::move(moved);
  CHECK(*out == 5);
}

TEST_CASE("result: the value of a failed one is its Status, thrown") {
  const Result<int> failed = not_found("no such file 'a'");
  CHECK_THROWS_WITH_AS((void)*failed, "NOT_FOUND: no such file 'a'", BadAccess);
  Result<std::string> text = aborted("the step ended");
  try {
    (void)text->size();
    FAIL("no exception");
  } catch (const BadAccess& e) {
    CHECK(e.status() == aborted("the step ended"));
  }
}

TEST_CASE("random_id: never zero, practically never twice") {
  std::uint64_t a = random_id(), b = random_id();
  CHECK(a != 0);
  CHECK(b != 0);
  CHECK(a != b);
}
