#include "actors/worker_session/master_lease.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Verdict = MasterLease::Verdict;

constexpr std::int64_t second = 1'000'000;

std::optional<MasterWire> wire(const char* name, int silent_ms) {
  MasterWire out{name, {}};
  out.state.silent = std::chrono::milliseconds(silent_ms);
  return out;
}

} // namespace

TEST_CASE("master lease: over after its length without a word, not before") {
  MasterLease lease(10 * second, 0);
  CHECK(!lease.is_doubtful(5 * second));
  CHECK(lease.is_doubtful(5 * second + 1));
  CHECK(lease.judge(std::nullopt, 10 * second) == Verdict::runs);
  CHECK(lease.judge(std::nullopt, 10 * second + 1) == Verdict::over);
  lease.renewed(10 * second);
  CHECK(!lease.is_doubtful(15 * second));
  CHECK(lease.judge(std::nullopt, 20 * second) == Verdict::runs);
}

TEST_CASE("master lease: without a length it is never in doubt") {
  CHECK(!MasterLease(0, 0).is_doubtful(1'000'000 * second));
}

TEST_CASE("master lease: bytes on the connection of its word are signs of life, and it is asked") {
  MasterLease lease(10 * second, 0);
  lease.came_over(wire("a", 0));
  CHECK(lease.judge(wire("a", 100), 11 * second) == Verdict::ask);
  CHECK(lease.judge(wire("a", 12'000), 12 * second) == Verdict::over);
}

TEST_CASE("master lease: bytes on another connection are not") {
  MasterLease lease(10 * second, 0);
  lease.came_over(wire("a", 0));
  CHECK(lease.judge(wire("b", 100), 11 * second) == Verdict::over);
}

TEST_CASE("master lease: the connection is learnt while the lease runs") {
  MasterLease lease(10 * second, 0);
  CHECK(lease.judge(wire("a", 100), 6 * second) == Verdict::runs);
  CHECK(lease.judge(wire("a", 100), 11 * second) == Verdict::ask);
}
