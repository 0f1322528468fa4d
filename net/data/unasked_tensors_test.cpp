#include "net/data/internal/unasked_tensors.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "core/base/strings.hpp"

using namespace troupe;
using namespace troupe::data;

namespace {

Result<BufferRef> memory(std::uint64_t bytes) {
  return Buffer::allocate(host_allocator(), bytes);
}
Result<BufferRef> no_memory(std::uint64_t) {
  return resource_exhausted("the limit is reached");
}

struct Fixture {
  UnaskedTensors tensors{1000};
  std::vector<std::string> told;

  UnaskedTensors::Claimed claimed(const std::string& name) {
    return [this, name](const Result<BufferRef>& bytes, std::int64_t) {
      told.push_back(
          str_cat(name, ": ",
                  bytes.ok() ? str_cat((*bytes)->bytes()) : std::string(bytes.status().message())));
    };
  }
  /// Whether the peer is told that its bytes are lent again.
  bool finish(UnaskedTensors::Effect effect) {
    CHECK(!effect.is_wrong);
    if (effect.answer)
      effect.answer->to(std::move(effect.answer->result), effect.answer->micros);
    return effect.is_done;
  }
  bool claim(std::uint64_t ticket, std::uint64_t bytes = 100) {
    return finish(tensors.claim(ticket, bytes, claimed(str_cat(ticket)), 10));
  }
  void announce(std::uint64_t ticket, std::uint64_t bytes = 100) {
    CHECK(!finish(tensors.announced(ticket, bytes, memory, 20)));
  }
  bool send(std::uint64_t ticket, std::uint64_t bytes = 100) {
    auto to = tensors.piece(ticket, bytes, true);
    REQUIRE(to);
    CHECK(*to != nullptr);
    return finish(tensors.whole(ticket, 30));
  }
};

} // namespace

TEST_CASE(
    "unasked tensors: one that is claimed before, while or after it comes is handed over once") {
  for (int when = 0; when < 3; ++when) {
    CAPTURE(when);
    Fixture f;
    bool is_done = false;
    if (when == 0)
      f.claim(1);
    CHECK(f.tensors.is_owed() == (when == 0));
    f.announce(1);
    CHECK(f.tensors.is_owed());
    if (when == 1)
      f.claim(1);
    is_done = f.send(1);
    CHECK(!f.tensors.is_owed());
    if (when == 2) {
      CHECK(f.told.empty());
      CHECK(f.tensors.num_whole() == 1);
      is_done = f.claim(1);
    }
    CHECK(is_done);
    CHECK(f.told == std::vector<std::string>{"1: 100"});
    CHECK(f.tensors.held() == 0);
  }
}

TEST_CASE("unasked tensors: pieces must fit what was announced, and that what is lent") {
  Fixture f;
  CHECK(!f.tensors.piece(1, 10, true)); // not announced
  f.announce(1, 600);
  CHECK(f.tensors.announced(1, 100, memory, 0).is_wrong); // twice
  CHECK(f.tensors.announced(2, 401, memory, 0).is_wrong); // more than is lent
  CHECK(f.tensors.announced(3, 0, memory, 0).is_wrong);
  CHECK(!f.tensors.piece(1, 0, false));
  CHECK(!f.tensors.piece(1, 601, true));
  CHECK(!f.tensors.piece(1, 600, false)); // the last must say so
  CHECK(!f.tensors.piece(1, 599, true));  // and no other
  CHECK(f.tensors.piece(1, 599, false));
  CHECK(f.tensors.piece(1, 1, true));
}

TEST_CASE("unasked tensors: without memory for one its bytes are dropped, and whoever claims it is "
          "told why") {
  Fixture f;
  f.finish(f.tensors.announced(1, 100, no_memory, 20));
  auto to = f.tensors.piece(1, 100, true);
  REQUIRE(to);
  CHECK(*to == nullptr);
  CHECK(!f.finish(f.tensors.whole(1, 30)));
  CHECK(f.claim(1));
  CHECK(f.told == std::vector<std::string>{"1: the limit is reached"});
}

TEST_CASE(
    "unasked tensors: one that is taken back ends whoever waits, or comes later, and makes room") {
  Fixture f;
  const Status why = aborted("its step has ended");
  f.claim(1);
  CHECK(f.finish(f.tensors.taken_back(1, why, 40))); // before it was announced
  f.announce(2);
  CHECK(f.tensors.taken_back(2, why, 40).is_broken_off);
  f.announce(3);
  f.send(3);
  CHECK(f.finish(f.tensors.taken_back(3, why, 40)));
  CHECK(f.tensors.held() == 0);
  CHECK(!f.tensors.is_owed());
  f.claim(2);
  f.claim(3);
  REQUIRE(f.told.size() == 3);
  CHECK(f.told[0] == "1: its step has ended");
  CHECK(f.told[2].find("no longer here") != std::string::npos);
}

TEST_CASE(
    "unasked tensors: what nobody claims is dropped after a while, what is on its way is not") {
  Fixture f;
  f.announce(1);
  f.send(1);
  f.announce(2);
  CHECK(f.tensors.drop_unclaimed(29).empty());
  CHECK(f.tensors.drop_unclaimed(30) == std::vector<std::uint64_t>{1});
  CHECK(f.tensors.held() == 100);
  f.claim(1);
  CHECK(f.told.size() == 1);
}

TEST_CASE("unasked tensors: of a wrong size, claimed twice, and at the end") {
  Fixture f;
  f.announce(1);
  f.send(1);
  CHECK(f.claim(1, 99));
  f.claim(2);
  f.claim(2);
  REQUIRE(f.told.size() == 2);
  CHECK(f.told[0].find("99 bytes were wanted of a tensor of 100") != std::string::npos);
  CHECK(f.told[1].find("claimed twice") != std::string::npos);
  CHECK(f.tensors.end().size() == 1);
  CHECK(!f.tensors.is_owed());
}

TEST_CASE("unasked tensors: whatever comes in whatever order, each claim is answered once and no "
          "byte is lost count of") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 dice(seed);
    auto roll = [&](int sides) { return std::uniform_int_distribution<>(0, sides - 1)(dice); };
    UnaskedTensors tensors(1000);
    std::map<std::uint64_t, int> answers, left; // left: bytes of those announced
    std::map<std::uint64_t, bool> is_claimed, was_announced;
    auto finish = [&](UnaskedTensors::Effect effect) {
      REQUIRE(!effect.is_wrong);
      if (effect.answer)
        effect.answer->to(std::move(effect.answer->result), effect.answer->micros);
    };
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t ticket = static_cast<std::uint64_t>(roll(20)) + 1;
      switch (roll(5)) {
      case 0:
        if (!std::exchange(is_claimed[ticket], true))
          finish(tensors.claim(
              ticket, 90,
              [&answers, ticket](const Result<BufferRef>&, std::int64_t) { ++answers[ticket]; },
              i));
        break;
      case 1:
        if (tensors.held() + 90 <= 1000 && !std::exchange(was_announced[ticket], true)) {
          finish(tensors.announced(ticket, 90, roll(4) ? memory : no_memory, i));
          left[ticket] = 90;
        }
        break;
      case 2:
      case 3:
        if (auto it = left.find(ticket); it != left.end()) {
          const bool is_last = roll(2) == 0;
          const int bytes = is_last ? it->second : it->second / 2;
          if (bytes == 0)
            break;
          REQUIRE(tensors.piece(ticket, static_cast<std::uint64_t>(bytes), bytes == it->second));
          if ((it->second -= bytes) == 0) {
            left.erase(it);
            finish(tensors.whole(ticket, i));
          }
        }
        break;
      default:
        if (roll(4) == 0 && was_announced[ticket]) {
          finish(tensors.taken_back(ticket, aborted("taken back"), i));
          left.erase(ticket);
        }
      }
    }
    for (const auto& [ticket, bytes] : std::map(left))
      finish(tensors.taken_back(ticket, aborted("taken back"), 200));
    tensors.drop_unclaimed(1000);
    const std::size_t waiting = tensors.end().size();
    std::size_t unanswered = 0;
    for (const auto& [ticket, claimed] : is_claimed) {
      REQUIRE(answers[ticket] <= 1);
      unanswered += claimed && answers[ticket] == 0 ? 1 : 0;
      if (claimed && was_announced[ticket])
        CHECK(answers[ticket] == 1);
    }
    CHECK(waiting == unanswered);
    CHECK(tensors.held() == 0);
  }
}
