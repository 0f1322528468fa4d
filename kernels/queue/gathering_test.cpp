#include "kernels/queue/internal/gathering.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace batch_ops {
// Steps that run at the same time: tests/integration/batch_test.cpp.
TROUPE_OPS_IN_GRAPHS("Batch BatchFunction Unbatch UnbatchGrad");
} // namespace batch_ops

namespace troupe::batching {
namespace {

using std::chrono::microseconds;

struct Fixture {
  explicit Fixture(Limits limits) : gathering(std::move(limits)) {}
  Status add(std::uint64_t ticket, std::int64_t rows, int at = 0) {
    auto request = std::make_shared<Request>();
    request->ticket = ticket;
    request->rows = rows;
    return gathering.add(request, Time(microseconds(at)));
  }
  /// "1:0+2 2:0+1": tickets, and which of their rows; "" while nothing is ready.
  std::string take(int at = 0) {
    if (!gathering.ready(Time(microseconds(at))))
      return "";
    std::vector<std::string> out;
    for (const Piece& piece : gathering.take().pieces)
      out.push_back(str_cat(piece.request->ticket, ":", piece.begin, "+", piece.rows));
    return str_join(out, " ");
  }
  Gathering gathering;
};

TEST_CASE("gathering: a batch is ready when it is full") {
  Fixture f({.request = 4, .batch = 4, .timeout = microseconds(100)});
  CHECK(f.add(1, 2).ok());
  CHECK(f.take() == "");
  CHECK(f.add(2, 2).ok());
  CHECK(f.take() == "1:0+2 2:0+2");
  CHECK(f.take(1000) == "");
}

TEST_CASE("gathering: a batch is ready when its time is over") {
  Fixture f({.request = 4, .batch = 4, .timeout = microseconds(100)});
  CHECK(f.add(1, 1, 10).ok());
  CHECK(f.gathering.due() == Time(microseconds(110)));
  CHECK(f.add(2, 1, 60).ok());
  CHECK(f.take(109) == "");
  CHECK(f.take(110) == "1:0+1 2:0+1");
  CHECK_FALSE(f.gathering.due());
}

TEST_CASE("gathering: a request that does not fit closes the batch before it") {
  Fixture f({.request = 4, .batch = 4, .timeout = microseconds(100)});
  CHECK(f.add(1, 3).ok());
  CHECK(f.add(2, 2).ok());
  CHECK(f.take() == "1:0+3");
  CHECK(f.take() == "");
  CHECK(f.take(100) == "2:0+2");
}

TEST_CASE("gathering: large requests are split where that is wanted") {
  Fixture f({.request = 9, .batch = 4, .timeout = microseconds(100), .splits = true});
  CHECK(f.add(1, 1).ok());
  CHECK(f.add(2, 9).ok());
  CHECK(f.take() == "1:0+1 2:0+3");
  CHECK(f.take() == "2:3+4");
  CHECK(f.take() == "");
  CHECK(f.take(100) == "2:7+2");
}

TEST_CASE("gathering: too large a request, and one too many, are refused") {
  Fixture f({.request = 2, .batch = 2, .timeout = microseconds(100), .waiting = 2});
  CHECK(f.add(1, 3).code() == Code::invalid_argument);
  CHECK(f.add(1, 2).ok());
  CHECK(f.add(2, 2).ok());
  const Status full = f.add(3, 1);
  CHECK(full.code() == Code::unavailable);
  CHECK(full.message().find("max_enqueued_batches") != std::string::npos);
  CHECK(f.take() == "1:0+2");
  CHECK(f.add(3, 1).ok());
  CHECK(f.take() == "2:0+2");
}

TEST_CASE("gathering: a request that nobody waits for any more leaves no gap") {
  Fixture f({.request = 4, .batch = 4, .timeout = microseconds(100), .splits = true});
  CHECK(f.add(1, 2).ok());
  CHECK(f.add(2, 3).ok());
  CHECK(f.add(3, 1).ok());
  f.gathering.withdraw(2);
  CHECK(f.take() == "1:0+2");
  f.gathering.withdraw(3);
  CHECK(f.take(1000) == "");
  CHECK_FALSE(f.gathering.due());
}

TEST_CASE("gathering: batches are padded to the next size that is allowed") {
  const Limits limits{.allowed = {2, 5}};
  CHECK(limits.padded(1) == 2);
  CHECK(limits.padded(2) == 2);
  CHECK(limits.padded(3) == 5);
  CHECK(limits.padded(6) == 6);
  CHECK(Limits{}.padded(3) == 3);
}

} // namespace
} // namespace troupe::batching
