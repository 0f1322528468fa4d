// Staging areas, staging maps and mutexes: who waits, and for what.
#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "devices/resource/mutex.hpp"
#include "devices/resource/staging_map.hpp"

using namespace troupe;

namespace {

/// What became of a request.
struct Staged {
  std::shared_ptr<std::string> text = std::make_shared<std::string>("waits");
  std::shared_ptr<Monitor::Tensors> tensors = std::make_shared<Monitor::Tensors>();
  Monitor::Done done() const {
    return [text = text, tensors = tensors](Result<Monitor::Tensors> result) {
      REQUIRE(*text == "waits");
      *text = result.ok() ? "ok" : result.status().to_string();
      if (!result.ok())
        return;
      *tensors = *std::move(result);
      for (const Tensor& tensor : *tensors)
        *text += tensor.dtype() == DType::variant ? " lock" : " " + tensor.to_string();
    };
  }
};

Tensor number(float value) {
  return Tensor::scalar(value);
}

std::string put(StagingArea& area, Monitor::Tensors tuple) {
  const Staged staged;
  area.put(area.ticket(), std::move(tuple), staged.done());
  return *staged.text;
}
std::string put(StagingMap& map, std::int64_t key, StagingMap::Places places,
                Monitor::Tensors tuple) {
  const Staged staged;
  map.put(map.ticket(), key, std::move(places), std::move(tuple), staged.done());
  return *staged.text;
}
std::string take(StagingMap& map, std::int64_t key, StagingMap::Places places) {
  const Staged staged;
  std::vector<DType> types(places.size(), DType::float32);
  map.take(map.ticket(), key, std::move(places), std::move(types), staged.done());
  return *staged.text;
}

const std::vector<DType> one = {DType::float32}, two = {DType::float32, DType::float32};

} // namespace

TEST_CASE("staging area: takers wait for tuples, in the order in which they came") {
  StagingArea area({});
  const Staged first, second, peeked;
  area.take(area.ticket(), one, first.done());
  area.peek(area.ticket(), 1, one, peeked.done());
  const auto ticket = area.ticket();
  area.take(ticket, one, second.done());
  CHECK(put(area, {number(1)}) == "ok");
  CHECK(*first.text == "ok f32[] 1");
  CHECK(*second.text == "waits");
  area.withdraw(ticket);
  CHECK(put(area, {number(2)}) == "ok");
  CHECK(area.size() == 1);
  CHECK(*peeked.text == "waits");
  CHECK(put(area, {number(3)}) == "ok");
  CHECK(*peeked.text == "ok f32[] 3");
  CHECK(area.size() == 2);
  CHECK(*second.text == "waits");
}

TEST_CASE("staging area: who puts waits for room of both kinds") {
  StagingArea by_count({.elements = 1});
  CHECK(put(by_count, {number(1)}) == "ok");
  const Staged waiting;
  by_count.put(by_count.ticket(), {number(2)}, waiting.done());
  CHECK(*waiting.text == "waits");
  const Staged taken;
  by_count.take(by_count.ticket(), one, taken.done());
  CHECK(*taken.text == "ok f32[] 1");
  CHECK(*waiting.text == "ok");

  StagingArea by_bytes({.bytes = 8});
  CHECK(put(by_bytes, {number(1)}) == "ok");
  CHECK(by_bytes.bytes() == 4);
  CHECK(put(by_bytes, {Tensor::zeros(DType::float32, {3})}) ==
        "RESOURCE_EXHAUSTED: Attempted to insert tensors with combined size of '12' bytes into "
        "Staging Area with a memory limit of '8'.");
  const Staged two_more;
  by_bytes.put(by_bytes.ticket(), {number(2), number(3)}, two_more.done());
  CHECK(*two_more.text == "waits");
  by_bytes.clear();
  CHECK(*two_more.text == "ok");
  CHECK(by_bytes.size() == 1);
}

TEST_CASE("staging area: a tuple of other components stays for whoever wants it") {
  StagingArea area({});
  CHECK(put(area, {number(1), number(2)}) == "ok");
  const Staged fewer, others, right;
  area.take(area.ticket(), one, fewer.done());
  area.take(area.ticket(), {DType::float32, DType::int32}, others.done());
  area.take(area.ticket(), two, right.done());
  CHECK(*fewer.text == "INVALID_ARGUMENT: Mismatch stage/unstage: 2 vs. 1");
  CHECK(*others.text ==
        "INVALID_ARGUMENT: Mismatch stage/unstage: component 1 is of float, not of int32");
  CHECK(*right.text == "ok f32[] 1 f32[] 2");
}

TEST_CASE("staging map: a key's tuple is put together and taken apart") {
  StagingMap map({});
  CHECK(map.declare(two).ok());
  CHECK(map.declare(one).code() == Code::invalid_argument);
  const Staged waiting, peeked;
  map.take(map.ticket(), 7, {1}, one, waiting.done());
  map.peek(map.ticket(), 7, {0, 1}, two, peeked.done());
  CHECK(put(map, 7, {1}, {number(2)}) == "ok");
  CHECK(map.incomplete_size() == 1);
  CHECK(put(map, 7, {1}, {number(2)}) ==
        "INVALID_ARGUMENT: The tensor for index '1' for key '7' was "
        "already initialized '2'.");
  CHECK(*waiting.text == "waits");
  CHECK(put(map, 7, {0}, {number(1)}) == "ok");
  CHECK(*waiting.text == "ok f32[] 2");
  CHECK(*peeked.text ==
        "INVALID_ARGUMENT: Tensor at index '1' for key '7' has already been removed.");
  CHECK(map.incomplete_size() == 0);
  CHECK(map.size() == 1);
  CHECK(take(map, 7, {0, 1}) ==
        "INVALID_ARGUMENT: Tensor at index '1' for key '7' has already been removed.");
  CHECK(take(map, 7, {0}) == "ok f32[] 1");
  CHECK(map.size() == 0);
  CHECK(map.bytes() == 0);
}

TEST_CASE("staging map: any tuple is the one with the smallest key") {
  StagingMap map({});
  CHECK(map.declare(one).ok());
  const Staged first, second;
  map.take_any(map.ticket(), {0}, one, first.done());
  CHECK(put(map, 9, {0}, {number(9)}) == "ok");
  CHECK(*first.text == "ok i64[] 9 f32[] 9");
  CHECK(put(map, 5, {0}, {number(5)}) == "ok");
  CHECK(put(map, -3, {0}, {number(-3)}) == "ok");
  map.take_any(map.ticket(), {0}, one, second.done());
  CHECK(*second.text == "ok i64[] -3 f32[] -3");
  CHECK(put(map, 5, {0}, {number(6)}) == "ok"); // dropped: there is one
  CHECK(map.size() == 1);
  CHECK(map.bytes() == 4);
  CHECK(take(map, 5, {0}) == "ok f32[] 5");
}

TEST_CASE("staging map: who puts waits for room, and places must be right") {
  StagingMap map({.elements = 1, .bytes = 12});
  CHECK(map.declare(two).ok());
  CHECK(put(map, 1, {0, 1}, {number(1), number(2)}) == "ok");
  const Staged whole, part;
  map.put(map.ticket(), 2, {0, 1}, {number(3), number(4)}, whole.done());
  CHECK(*whole.text == "waits");
  CHECK(put(map, 3, {0}, {number(5)}) == "ok"); // parts need bytes alone
  map.put(map.ticket(), 4, {0}, {number(6)}, part.done());
  CHECK(*part.text == "waits");
  CHECK(put(map, 1, {0, 1}, {Tensor::zeros(DType::float32, {3}), number(0)})
            .starts_with("RESOURCE_EXHAUSTED"));
  map.clear();
  CHECK(*whole.text == "ok");
  CHECK(*part.text == "ok");
  CHECK(put(map, 1, {}, {}) == "INVALID_ARGUMENT: Indices are empty");
  CHECK(put(map, 1, {1, 0}, {number(1), number(2)}) ==
        "INVALID_ARGUMENT: Indices are not strictly ordered");
  CHECK(put(map, 1, {5}, {number(1)}) ==
        "INVALID_ARGUMENT: Index '5' for key '1' was out of bounds '2'.");
  CHECK(put(map, 1, {-1}, {number(1)}).starts_with("INVALID_ARGUMENT: Index '-1'"));
  CHECK(put(map, 1, {0, 1}, {number(1)}).starts_with("INVALID_ARGUMENT"));
  CHECK(put(map, 1, {0}, {Tensor::scalar(1)}) ==
        "INVALID_ARGUMENT: The tensor for index '0' for key '1' is of int32, not of float");
  CHECK(take(map, 2, {2}) == "INVALID_ARGUMENT: Index '2' for key '2' was out of bounds '2'.");
}

TEST_CASE("mutex: one holder at a time, in the order of the requests") {
  auto mutex = std::make_shared<Mutex>("m");
  auto first = std::make_unique<Staged>(), second = std::make_unique<Staged>();
  const Staged third;
  Mutex::acquire(mutex, mutex->ticket(), first->done());
  Mutex::acquire(mutex, mutex->ticket(), second->done());
  const auto ticket = mutex->ticket();
  Mutex::acquire(mutex, ticket, third.done());
  CHECK(*first->text == "ok lock");
  CHECK(*second->text == "waits");
  CHECK(mutex->is_locked());
  Tensor copy = (*first->tensors)[0];
  first.reset();
  CHECK(*second->text == "waits"); // the copy holds it
  copy = Tensor();
  CHECK(*second->text == "ok lock");
  mutex->withdraw(ticket);
  second.reset();
  CHECK(*third.text == "waits");
  CHECK(!mutex->is_locked());
}

TEST_CASE("mutex: a lock that nobody asks for any more is given back, and outlives its mutex") {
  auto mutex = std::make_shared<Mutex>("m");
  Mutex::acquire(mutex, mutex->ticket(), [](Result<Monitor::Tensors>) {});
  CHECK(!mutex->is_locked());
  const Staged held;
  Mutex::acquire(mutex, mutex->ticket(), held.done());
  const auto& lock = (*held.tensors)[0].data<Variant>()[0];
  CHECK(parts_of(lock).status().code() == Code::unimplemented);
  mutex.reset();
  held.tensors->clear();
}
