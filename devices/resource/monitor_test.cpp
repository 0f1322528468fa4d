// Waiting on resources: accumulators and barriers that answer later.
#include "devices/resource/monitor.hpp"

#include <doctest/doctest.h>

#include "core/tensor/literal.hpp"
#include "devices/resource/accumulator.hpp"
#include "devices/resource/barrier.hpp"

using namespace troupe;

namespace {

/// What became of a request.
struct MonitorAnswer {
  std::shared_ptr<std::string> text = std::make_shared<std::string>("waits");
  Monitor::Done done() const {
    return [text = text](Result<Monitor::Tensors> result) {
      REQUIRE(*text == "waits");
      *text = result.ok() ? "ok" : result.status().to_string();
      if (result.ok())
        for (const Tensor& tensor : *result)
          *text += " " + tensor.to_string();
    };
  }
};

Tensor monitor_literal(std::string_view text) {
  auto out = parse_literal(text);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

} // namespace

TEST_CASE("monitor: takers wait for enough gradients, one after the other") {
  GradientAccumulator accumulator({.dtype = DType::float32, .shape = {}}, "a", host_allocator());
  MonitorAnswer many, one;
  accumulator.take(accumulator.ticket(), 2, many.done());
  const auto ticket = accumulator.ticket();
  accumulator.take(ticket, 1, one.done());
  CHECK(accumulator.apply(0, monitor_literal("f32[1] 2")).ok());
  CHECK(*many.text == "waits");
  CHECK(*one.text == "waits"); // behind the other
  CHECK(accumulator.apply(0, monitor_literal("f32[1] 4")).ok());
  CHECK(*many.text == "ok f32[1] 3");
  CHECK(*one.text == "waits");
  accumulator.withdraw(ticket);
  CHECK(accumulator.apply(1, monitor_literal("f32[1] 4")).ok());
  CHECK(*one.text == "waits");
  CHECK(accumulator.num_accumulated() == 1);
}

TEST_CASE("monitor: who withdraws lets the next one pass") {
  GradientAccumulator accumulator({.dtype = DType::float64, .shape = {}, .is_mean = false}, "a",
                                  host_allocator());
  MonitorAnswer many, one;
  const auto ticket = accumulator.ticket();
  accumulator.take(ticket, 5, many.done());
  accumulator.take(accumulator.ticket(), 1, one.done());
  CHECK(accumulator.apply(0, monitor_literal("f64[1] 2")).ok());
  CHECK(*one.text == "waits");
  accumulator.withdraw(ticket);
  CHECK(*one.text == "ok f64[1] 2");
  CHECK(*many.text == "waits");
}

TEST_CASE("monitor: closing a barrier ends who waits for what cannot come") {
  Barrier barrier({.types = {DType::int32, DType::int32}, .shapes = {}}, "b", host_allocator());
  MonitorAnswer whole, few;
  CHECK(barrier.insert(monitor_literal("str[1] \"k\""), monitor_literal("i32[1] 1"), 0).ok());
  barrier.take(barrier.ticket(), 2, false, whole.done());
  barrier.take(barrier.ticket(), 5, true, few.done());
  CHECK(barrier.close(false).ok());
  CHECK(*whole.text == "OUT_OF_RANGE: Barrier 'b' is closed and has insufficient elements "
                       "(requested 2, total size 1)");
  CHECK(*few.text == "waits"); // for k, which may become whole
  CHECK(barrier.insert(monitor_literal("str[1] \"k\""), monitor_literal("i32[1] 2"), 1).ok());
  CHECK(*few.text == "ok i64[1] -9223372036854775808 str[1] \"k\" i32[1] 1 i32[1] 2");
}
