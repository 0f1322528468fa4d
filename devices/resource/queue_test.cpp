#include "devices/resource/queue.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "core/tensor/literal.hpp"

using namespace troupe;

namespace {

using Order = QueueSpec::Order;
using Tuple = Queue::Tuple;

QueueSpec spec_of(Order order, std::int64_t capacity,
                  std::vector<PartialShape> shapes = {PartialShape(Shape{})}) {
  QueueSpec spec;
  spec.order = order;
  spec.op = "FIFOQueue";
  spec.types = std::vector<DType>(shapes.size(), DType::int32);
  spec.shapes = std::move(shapes);
  spec.capacity = capacity;
  return spec;
}

Tensor literal(std::string_view text) {
  auto out = parse_literal(text);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

/// The answer to one request, once it is there.
struct Answer {
  std::shared_ptr<std::optional<Result<Tuple>>> result =
      std::make_shared<std::optional<Result<Tuple>>>();
  Queue::Ticket ticket = 0;
  bool there() const { return result->has_value(); }
  std::string text() const {
    if (!there())
      return "waits";
    const Result<Tuple>& value = **result;
    if (!value.ok())
      return value.status().to_string();
    std::string out = "ok";
    for (const Tensor& tensor : *value)
      out += " " + tensor.to_string(100);
    return out;
  }
  Queue::Done done() {
    return [result = result](Result<Tuple> value) {
      REQUIRE_FALSE(result->has_value());
      *result = std::move(value);
    };
  }
};

struct Fixture {
  explicit Fixture(QueueSpec spec) : queue(std::move(spec), "q", host_allocator()) {}
  Queue queue;
  Answer put(std::string_view element) {
    Answer out{.ticket = queue.ticket()};
    queue.enqueue(out.ticket, {literal(element)}, out.done());
    return out;
  }
  Answer put_many(std::string_view batch) {
    Answer out{.ticket = queue.ticket()};
    queue.enqueue_many(out.ticket, {literal(batch)}, out.done());
    return out;
  }
  Answer take() {
    Answer out{.ticket = queue.ticket()};
    queue.dequeue(out.ticket, out.done());
    return out;
  }
  Answer take_many(std::int64_t n, bool up_to = false) {
    Answer out{.ticket = queue.ticket()};
    queue.dequeue_many(out.ticket, n, up_to, out.done());
    return out;
  }
  Answer close(bool cancel = false) {
    Answer out{.ticket = queue.ticket()};
    queue.close(out.ticket, cancel, out.done());
    return out;
  }
};

} // namespace

TEST_CASE("queue: elements leave in the order in which they came") {
  Fixture f(spec_of(Order::fifo, -1));
  CHECK(f.put("i32[] 1").text() == "ok");
  CHECK(f.put_many("i32[3] 2 3 4").text() == "ok");
  CHECK(f.queue.size() == 4);
  CHECK(f.queue.bytes() == 16);
  CHECK(f.take().text() == "ok i32[] 1");
  CHECK(f.take_many(2).text() == "ok i32[2] 2 3");
  CHECK(f.take_many(0).text() == "ok i32[0]");
  CHECK(f.take().text() == "ok i32[] 4");
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("queue: a take waits for a put, a put for room") {
  Fixture f(spec_of(Order::fifo, 2));
  Answer first = f.take(), second = f.take();
  CHECK(first.text() == "waits");
  CHECK(f.put("i32[] 1").text() == "ok");
  CHECK(first.text() == "ok i32[] 1");
  CHECK(second.text() == "waits");
  Answer many = f.put_many("i32[5] 2 3 4 5 6");
  CHECK(second.text() == "ok i32[] 2");
  CHECK(many.text() == "waits");
  Answer after = f.put("i32[] 7");
  CHECK(f.take().text() == "ok i32[] 3");
  CHECK(f.take().text() == "ok i32[] 4");
  CHECK(many.text() == "ok");
  CHECK(after.text() == "waits");
  CHECK(f.take_many(3).text() == "ok i32[3] 5 6 7");
  CHECK(after.text() == "ok");
}

TEST_CASE("queue: a batch may be larger than the queue") {
  Fixture f(spec_of(Order::fifo, 1));
  Answer batch = f.take_many(3);
  CHECK(f.put_many("i32[2] 1 2").text() == "ok");
  CHECK(batch.text() == "waits");
  CHECK(f.queue.size() == 0);
  CHECK(f.put("i32[] 3").text() == "ok");
  CHECK(batch.text() == "ok i32[3] 1 2 3");
}

TEST_CASE("queue: a closed queue gives what it has and takes no more") {
  Fixture f(spec_of(Order::fifo, 10));
  CHECK(f.put_many("i32[3] 1 2 3").text() == "ok");
  CHECK(f.close().text() == "ok");
  CHECK(f.queue.is_closed());
  CHECK(f.put("i32[] 1").text() == "CANCELLED: FIFOQueue 'q' is closed.");
  CHECK(f.put_many("i32[1] 1").text() == "CANCELLED: FIFOQueue 'q' is closed.");
  CHECK(f.put_many("i32[0]").text() == "ok");
  CHECK(f.close().text() == "CANCELLED: Queue 'q' is already closed.");
  CHECK(f.close(true).text() == "ok");
  CHECK(f.take_many(4).text() == "OUT_OF_RANGE: FIFOQueue 'q' is closed and has insufficient "
                                 "elements (requested 4, current size 3)");
  CHECK(f.take_many(2, true).text() == "ok i32[2] 1 2");
  CHECK(f.take_many(2, true).text() == "ok i32[1] 3");
  CHECK(f.take_many(2, true).text() == "OUT_OF_RANGE: FIFOQueue 'q' is closed and has "
                                       "insufficient elements (requested 2, current size 0)");
  CHECK(f.take().text() == "OUT_OF_RANGE: FIFOQueue 'q' is closed and has insufficient elements "
                           "(requested 1, current size 0)");
}

TEST_CASE("queue: closing ends the waiting takes; what they had taken goes back") {
  Fixture f(spec_of(Order::fifo, 10));
  Answer batch = f.take_many(3), rest = f.take_many(5, true), none = f.take();
  CHECK(f.put_many("i32[2] 1 2").text() == "ok");
  CHECK(f.close().text() == "ok");
  CHECK(batch.text() == "OUT_OF_RANGE: FIFOQueue 'q' is closed and has insufficient elements "
                        "(requested 1, current size 0)");
  CHECK(rest.text() == "ok i32[2] 1 2");
  CHECK(none.text().starts_with("OUT_OF_RANGE"));
}

TEST_CASE("queue: closing waits for the puts before it, or cancels them") {
  Fixture f(spec_of(Order::fifo, 1));
  CHECK(f.put("i32[] 1").text() == "ok");
  Answer put = f.put("i32[] 2"), close = f.close(), late = f.put("i32[] 3");
  CHECK(close.text() == "waits");
  CHECK_FALSE(f.queue.is_closed());
  CHECK(f.take().text() == "ok i32[] 1");
  CHECK(put.text() == "ok");
  CHECK(close.text() == "ok");
  CHECK(late.text() == "CANCELLED: FIFOQueue 'q' is closed.");
  CHECK(f.take().text() == "ok i32[] 2");

  Fixture g(spec_of(Order::fifo, 1));
  CHECK(g.put("i32[] 1").text() == "ok");
  Answer waiting = g.put("i32[] 2");
  CHECK(g.close(true).text() == "ok");
  CHECK(waiting.text() == "CANCELLED: Enqueue operation was cancelled");
  CHECK(g.take().text() == "ok i32[] 1");
}

TEST_CASE("queue: a withdrawn request is not answered and gives back what it had taken") {
  Fixture f(spec_of(Order::fifo, 2));
  Answer batch = f.take_many(3), next = f.take();
  CHECK(f.put_many("i32[2] 1 2").text() == "ok");
  f.queue.withdraw(batch.ticket);
  CHECK(batch.text() == "waits");
  CHECK(next.text() == "ok i32[] 1");
  CHECK(f.queue.size() == 1);
  CHECK(f.put("i32[] 3").text() == "ok");
  Answer full = f.put("i32[] 4"), behind = f.put("i32[] 5");
  f.queue.withdraw(full.ticket);
  f.queue.withdraw(999);
  CHECK(f.take_many(3).text() == "ok i32[3] 2 3 5");
  CHECK(behind.text() == "ok");
  CHECK(full.text() == "waits");
}

TEST_CASE("queue: components that do not fit are refused") {
  Fixture f(spec_of(Order::fifo, 10, {PartialShape{2}}));
  CHECK(f.put("i32[3] 1 2 3").text() ==
        "INVALID_ARGUMENT: Shape mismatch in tuple component 0. Expected [2], got [3]");
  CHECK(f.put("f32[2] 1 2").text() ==
        "INVALID_ARGUMENT: Type mismatch in tuple component 0. Expected int32, got float");
  CHECK(f.put_many("i32[1,3] 1 2 3").text() ==
        "INVALID_ARGUMENT: Shape mismatch in tuple component 0. Expected [1,2], got [1,3]");
  CHECK(f.put_many("i32[] 1").text().starts_with("INVALID_ARGUMENT: All input tensors must have"));
  Answer two;
  f.queue.enqueue(1, {literal("i32[2] 1 2"), literal("i32[2] 1 2")}, two.done());
  CHECK(two.text() == "INVALID_ARGUMENT: Wrong number of components in tuple. Expected 1, got 2");
  CHECK(f.take_many(-1).text() == "INVALID_ARGUMENT: DequeueManyOp requested -1 < 0 elements");

  Fixture any(spec_of(Order::fifo, 10, {}));
  CHECK(any.take_many(1).text() == "INVALID_ARGUMENT: FIFOQueue's DequeueMany and DequeueUpTo "
                                   "require the components to have specified shapes.");

  Fixture pair(spec_of(Order::fifo, 10, {PartialShape(Shape{}), PartialShape(Shape{})}));
  Answer uneven;
  pair.queue.enqueue_many(1, {literal("i32[2] 1 2"), literal("i32[3] 1 2 3")}, uneven.done());
  CHECK(uneven.text() ==
        "INVALID_ARGUMENT: Shape mismatch in tuple component 1. Expected [2], got [3]");

  QueueSpec shapeless = spec_of(Order::fifo, 10, {});
  shapeless.types = {DType::int32, DType::int32};
  Fixture free(std::move(shapeless));
  Answer of_two_sizes;
  free.queue.enqueue_many(1, {literal("i32[2] 1 2"), literal("i32[3] 1 2 3")}, of_two_sizes.done());
  CHECK(
      of_two_sizes.text() ==
      "INVALID_ARGUMENT: All input tensors must have the same size in the 0th dimension. Component "
      "1 has 3, and should have 2");
}

TEST_CASE("queue: a padding queue fills up the smaller elements of a batch") {
  Fixture f(spec_of(Order::padding_fifo, 10, {PartialShape{-1, 2, -1}}));
  CHECK(f.put("i32[1,2,2] 1 2 3 4").text() == "ok");
  CHECK(f.put("i32[2,2,1] 5 6 7 8").text() == "ok");
  CHECK(f.put("i32[0,2,3]").text() == "ok");
  CHECK(f.put("i32[1,3,1] 1 2 3").text() ==
        "INVALID_ARGUMENT: Shape mismatch in tuple component 0. Expected [?,2,?], got [1,3,1]");
  CHECK(f.take_many(2).text() == "ok i32[2,2,2,2] 1 2 3 4 0 0 0 0 5 0 6 0 7 0 8 0");
  CHECK(f.take_many(1).text() == "ok i32[1,0,2,3]");
  CHECK(f.take_many(0).text() == "ok i32[0,0,2,0]");
}

TEST_CASE("queue: strings are queued, batched and padded") {
  QueueSpec spec = spec_of(Order::padding_fifo, 10, {PartialShape{-1}});
  spec.types = {DType::string};
  Fixture f(std::move(spec));
  CHECK(f.put_many("str[2,2] \"a\" \"b\" \"c\" \"d\"").text() == "ok");
  CHECK(f.put("str[1] \"e\"").text() == "ok");
  CHECK(f.take().text() == "ok str[2] \"a\" \"b\"");
  CHECK(f.take_many(2).text() == "ok str[2,2] \"c\" \"d\" \"e\" \"\"");
}

TEST_CASE("queue: a priority queue gives the smallest first, equal ones in order") {
  QueueSpec spec = spec_of(Order::priority, 10, {PartialShape(Shape{}), PartialShape(Shape{})});
  spec.types[0] = DType::int64;
  Fixture f(std::move(spec));
  Answer put;
  f.queue.enqueue_many(1, {literal("i64[4] 3 1 3 -2"), literal("i32[4] 10 20 30 40")}, put.done());
  CHECK(put.text() == "ok");
  Answer batch = f.take_many(5);
  f.queue.withdraw(batch.ticket); // which gives them back in their order
  Answer all = f.take_many(6);    // waits for as many, and takes them in their order
  CHECK(all.text() == "waits");
  Answer more;
  f.queue.enqueue_many(2, {literal("i64[2] -5 0"), literal("i32[2] 50 60")}, more.done());
  CHECK(all.text() == "ok i64[6] -5 -2 0 1 3 3 i32[6] 50 40 60 20 10 30");
}

TEST_CASE("queue: a random queue keeps some elements until it is closed and loses none") {
  QueueSpec spec = spec_of(Order::random, 100);
  spec.min_after_dequeue = 3;
  spec.seed = 1;
  Fixture f(std::move(spec));
  CHECK(f.put_many("i32[3] 1 2 3").text() == "ok");
  Answer first = f.take();
  CHECK(first.text() == "waits");
  CHECK(f.put("i32[] 4").text() == "ok");
  CHECK(first.there());
  CHECK(f.close().text() == "ok");
  Answer rest = f.take_many(3);
  REQUIRE(rest.there());
  std::int64_t sum = (**first.result)->front().value<std::int32_t>();
  const Tensor batch = (**rest.result)->front();
  for (std::int32_t x : batch.data<std::int32_t>())
    sum += x;
  CHECK(sum == 10);
}

TEST_CASE("queue: the words that a random queue draws say whose turn it is") {
  QueueSpec spec = spec_of(Order::random, -1);
  spec.draw = [turn = std::uint32_t{0}]() mutable { return 5 * turn++; };
  Fixture f(std::move(spec));
  CHECK(f.put_many("i32[4] 1 2 3 4").text() == "ok");
  CHECK(f.take_many(4).text() == "ok i32[4] 1 3 4 2"); // 0 of 1 2 3 4, 2 of 4 2 3, 0 of 4 2
}

TEST_CASE("queue: two nodes that share a queue must say the same of it") {
  const Queue queue(spec_of(Order::fifo, 3), "q", host_allocator());
  CHECK(queue.check_same(spec_of(Order::fifo, 3), "FIFOQueueV2").ok());
  CHECK(queue.check_same(spec_of(Order::fifo, 4), "FIFOQueueV2").message() ==
        "Shared queue 'q' has capacity 3 but requested capacity was 4");
  CHECK(queue.check_same(spec_of(Order::fifo, 3, {PartialShape{2}}), "").message() ==
        "Shared queue 'q' has component shapes [[]] but requested component shapes were [[2]]");
  QueueSpec other = spec_of(Order::fifo, 3);
  other.types = {DType::string};
  CHECK(queue.check_same(other, "").message() ==
        "Shared queue 'q' has component types int32 but requested component types were string");
  other = spec_of(Order::random, 3);
  other.op = "RandomShuffleQueue";
  CHECK(queue.check_same(other, "RandomShuffleQueueV2").message() ==
        "Expected FIFOQueue, found RandomShuffleQueueV2");
  other = spec_of(Order::fifo, 3);
  other.min_after_dequeue = 1;
  CHECK(queue.check_same(other, "").message() ==
        "Shared queue 'q' has min_after_dequeue 0 but requested min_after_dequeue was 1.");
  other = spec_of(Order::fifo, 3);
  other.seed = 7;
  CHECK(queue.check_same(other, "").message() ==
        "Shared queue 'q' has random seeds (0, 0) but requested seeds are (7, 0).");
  const Queue seeded(other, "q", host_allocator());
  other.seed = 0; // whoever asks for no seeds takes any
  CHECK(seeded.check_same(other, "").ok());
  CHECK(queue.description() == "FIFOQueue of int32, 0 of 3 elements");
}
