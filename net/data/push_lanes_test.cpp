#include "net/data/push_lanes.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace troupe;

namespace {

constexpr std::uint64_t mib = 1 << 20;

Tensor of_bytes(std::uint64_t bytes) {
  return Tensor::zeros(DType::uint8, {static_cast<std::int64_t>(bytes)});
}

struct LaneFixture {
  std::vector<std::uint64_t> sent, taken_back;
  std::shared_ptr<PushLane> lane = std::make_shared<PushLane>(
      5, 4 * mib,
      PushLane::Out{[this](std::uint64_t ticket, const Tensor&) { sent.push_back(ticket); },
                    [this](std::uint64_t ticket) { taken_back.push_back(ticket); }});
};

} // namespace

TEST_CASE("push lane: what is lent is taken until the receiver is done with it") {
  LaneFixture f;
  for (std::uint64_t ticket : {1, 2, 3, 4})
    CHECK(f.lane->push(ticket, of_bytes(mib)));
  CHECK(!f.lane->push(5, of_bytes(1)));
  CHECK(f.lane->under_way() == 4 * mib);
  f.lane->done(2);
  f.lane->done(2); // says it twice
  f.lane->done(77);
  CHECK(f.lane->under_way() == 3 * mib);
  CHECK(f.lane->push(6, of_bytes(mib)));
  CHECK(f.sent == std::vector<std::uint64_t>{1, 2, 3, 4, 6});
}

TEST_CASE("push lane: how large a tensor may go unasked follows what the connection has measured") {
  LaneFixture f;
  CHECK(f.lane->largest() == mib);
  CHECK(!f.lane->push(1, of_bytes(mib + 1)));
  f.lane->measured(1'000'000'000, 2'000); // 2 MB on their way, eight times that
  CHECK(f.lane->largest() == 4 * mib);    // but no more than is lent
  CHECK(f.lane->push(2, of_bytes(4 * mib)));
  f.lane->measured(100'000'000, 2'000);
  CHECK(f.lane->largest() == 1'600'000);
  f.lane->measured(0, 0);
  CHECK(f.lane->largest() == mib);
  f.lane->measured(~std::uint64_t{0}, ~std::uint64_t{0});
  CHECK(f.lane->largest() == 4 * mib);
}

TEST_CASE("push lane: what nobody wants any more is taken back once, and never after the end") {
  LaneFixture f;
  CHECK(f.lane->push(1, of_bytes(10)));
  CHECK(f.lane->take_back(1));
  CHECK(f.taken_back == std::vector<std::uint64_t>{1});
  CHECK(f.lane->under_way() == 10); // until the receiver says so
  f.lane->done(1);
  CHECK(!f.lane->take_back(1));
  CHECK(f.lane->push(2, of_bytes(10)));
  f.lane->end();
  CHECK(f.lane->take_back(2));
  CHECK(f.taken_back.size() == 1);
  CHECK(!f.lane->push(3, of_bytes(10)));
}

TEST_CASE(
    "push lanes: a node's latest connection is used; the end of an older one changes nothing") {
  LaneFixture older, newer;
  PushLanes lanes;
  CHECK(!lanes.push(3, of_bytes(10)));
  lanes.add(3, older.lane);
  lanes.add(3, newer.lane);
  lanes.remove(3, older.lane);
  auto pushed = lanes.push(3, of_bytes(10));
  REQUIRE(pushed);
  CHECK(pushed->lane == newer.lane->id());
  CHECK(PushLanes::is_ticket(pushed->ticket));
  CHECK(newer.sent == std::vector<std::uint64_t>{pushed->ticket});
  CHECK(older.sent.empty());
  CHECK(lanes.take_back(pushed->ticket));
  CHECK(!lanes.take_back(1));
  CHECK(!lanes.push(4, of_bytes(10)));
  CHECK(lanes.num_pushed() == 1);
  lanes.remove(3, newer.lane);
  CHECK(!lanes.push(3, of_bytes(10)));
}
