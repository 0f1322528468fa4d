// Where kernels write what goes to another task.
#include <cmath>
#include <doctest/doctest.h>

#include "actors/executor/testing/testing.hpp"
#include "core/base/strings.hpp"

using namespace troupe;
using testing::Rig;

namespace {

const std::string there = "/job:ps/replica:0/task:0";

std::string send(std::string_view from, std::string_view to = "/job:ps/replica:0/task:0") {
  return str_cat("s = _Send[tensor_name=\"e\", "
                 "send_device=\"/job:worker/replica:0/task:0/device:CPU:0\", recv_device=\"",
                 to, "/device:CPU:0\"](", from, ")\n");
}

constexpr auto x = "x = _Arg[T=DT_FLOAT, index=0]()\n";

/// What arrived, and whether it lies in memory that the receiver gave.
struct Sent {
  Tensor value;
  bool is_there = false;
  std::size_t asked = 0;
};

Sent run(const std::string& graph, Tensor arg = Tensor::vector({1.0f, 2.0f, 3.0f}),
         bool gives_memory = true) {
  Rig rig;
  auto step = rig.start(rig.compile(graph), {std::move(arg)});
  rig.rendezvous->gives_memory = gives_memory;
  Status status = rig.finish(*step);
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  Sent out;
  rig.rendezvous->recv("e;0:0", [&](Result<EdgeValue> value) {
    REQUIRE(value.ok());
    out.value = value->tensor;
  });
  for (const auto& [task, memory] : rig.rendezvous->memory)
    for (const BufferRef& buffer : memory) {
      CHECK(task == there);
      ++out.asked;
      out.is_there |= buffer && buffer->data() == out.value.raw();
    }
  return out;
}

} // namespace

TEST_CASE("receivers: a kernel whose only reader is another task writes where that will look") {
  for (const char* kernel :
       {"n = Neg(x)\n", "n = AddV2(x, x)\n", "m = Neg(x)\nn = Identity(m)\n"}) {
    CAPTURE(kernel);
    Sent sent = run(str_cat(x, kernel, send("n")));
    CHECK(sent.is_there);
    CHECK(sent.asked == 1);
    CHECK(std::abs(sent.value.data<float>()[2]) >= 3.0f);
  }
}

TEST_CASE("receivers: what is read here too, or stays here, lies in our own memory") {
  CHECK(run(str_cat(x, "n = Neg(x)\nm = Neg(n)\n", send("n"))).asked == 0);
  CHECK(run(str_cat(x, "n = Neg(x)\ni = Identity(n)\nm = Neg(i)\n", send("i"))).asked == 0);
  CHECK(run(str_cat(x, "n = Neg(x)\n", send("n", "/job:worker/replica:0/task:0"))).asked == 0);
  CHECK(run(str_cat(x, send("x"))).asked == 0);
}

TEST_CASE(
    "receivers: what could be taken for a place in memory is not computed where a peer writes") {
  Sent sent = run(str_cat("x = _Arg[T=DT_INT64, index=0]()\nn = Neg(x)\n", send("n")),
                  Tensor::vector<std::int64_t>({1, 2, 3}));
  CHECK(sent.asked == 0);
  CHECK(sent.value.data<std::int64_t>()[2] == -3);
}

TEST_CASE("receivers: a peer without memory for us is sent what lies in ours") {
  Sent sent = run(str_cat(x, "n = Neg(x)\n", send("n")), Tensor::vector({4.0f, 5.0f}), false);
  CHECK(sent.asked == 1);
  CHECK(sent.value.data<float>()[0] == -4.0f);
}
