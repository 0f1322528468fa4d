// Two nodes over loopback in one process: how often a large tensor's bytes are copied on its way,
// and what a step says of it.
#include <doctest/doctest.h>

#include <thread>

#include "actors/family/services.hpp"
#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "devices/memory/caching_allocator.hpp"
#include "tests/support/free_port.hpp"

namespace troupe::tensor_path_test {

using troupe::testing::free_port;

namespace {

constexpr std::int64_t elements = 4 << 20, bytes = elements * 4;
constexpr std::int64_t small = bytes / 2; // what else a step may take
constexpr int lent_elements = 300'000;    // of a value that fits into lent memory

struct Fixture {
  int cpu_devices = 1; ///< of each node
  bool lends = true, shows = true;
  std::unique_ptr<ClusterNode> ps, worker;
  std::unique_ptr<Session> session;
  Scope root = Scope::root();
  Scope on_ps = root.on("/job:ps/task:0"), on_worker = root.on("/job:worker/task:0");
  GraphVariable v =
      variable(on_ps, "v", DType::float32, {elements},
               ops::fill(on_ps, Tensor::vector<std::int32_t>({static_cast<int>(elements)}), 1.0f));

  void start(PathChoice choice, PathChoice of_ps) {
    Cluster cluster;
    Address at_ps{"127.0.0.1", free_port()}, at_worker{"127.0.0.1", free_port()};
    REQUIRE(cluster.add("ps", 0, at_ps).ok());
    REQUIRE(cluster.add("worker", 0, at_worker).ok());
    auto make = [&](const char* job, PathChoice path) {
      NodeOptions options;
      options.cluster = cluster;
      options.job = job;
      options.device_count["CPU"] = cpu_devices;
      options.compute_threads = 1;
      options.memory_limit = std::int64_t{4} << 30; // exact counts of bytes
      options.tensor_paths.choice = path;
      options.tensor_paths.lends = lends;
      options.tensor_paths.shows = shows;
      auto node = ClusterNode::start(options);
      REQUIRE_MESSAGE(node.ok(), node.status().to_string());
      return *std::move(node);
    };
    ps = make("ps", of_ps);
    worker = make("worker", choice);
    auto opened = Session::open(str_cat("caf://", at_worker));
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    session = std::make_unique<Session>(*std::move(opened));
    REQUIRE(session->extend(root).ok());
  }
  void start(PathChoice choice) { start(choice, choice); }

  Status run(const std::string& target, RunMetadata* metadata = nullptr) {
    RunOptions options;
    options.timeout_ms = 60'000;
    if (metadata)
      options.trace_level = TraceLevel::full;
    return session->run({}, {}, {target}, options, metadata).status();
  }
  /// Slots of either end that hold a value, once what has ended has let go of its tensors.
  std::size_t slots_in_use() const {
    auto now = [&] {
      return ps->services().lent_memory->slots_in_use() +
             worker->services().lent_memory->slots_in_use();
    };
    for (std::int64_t until = steady_micros() + 10'000'000; now() > 0 && steady_micros() < until;)
      std::this_thread::yield();
    return now();
  }
  static AllocatorStats memory(const ClusterNode& node) {
    auto& from = node.services().devices.all().front()->host_side_allocator();
    auto* allocator = dynamic_cast<CachingAllocator*>(&from);
    REQUIRE(allocator);
    return allocator->stats();
  }
};

// Those that can be here: without UCX on this machine, the others.
std::vector<PathChoice> every_choice() {
  std::vector<PathChoice> out{PathChoice::messages, PathChoice::shared_memory, PathChoice::stream};
  if (ucx_support(PathChoice::ucx) != UcxSupport::none)
    out.push_back(PathChoice::ucx);
  else
    MESSAGE("skipped: ucx, which is not on this machine");
  return out;
}

} // namespace

TEST_CASE("tensor path: a variable that others read is not copied where it lives") {
  for (PathChoice choice : every_choice()) {
    Fixture f;
    Output a = ops::identity(f.on_worker, f.v.read()), b = ops::neg(f.on_worker, f.v.read());
    Operation both = ops::no_op(f.on_worker.after(a).after(b));
    f.start(choice);
    REQUIRE(f.run(f.v.initializer().name()).ok());
    std::int64_t before = f.memory(*f.ps).peak_bytes_in_use;
    for (int i = 0; i < 3; ++i) {
      Status status = f.run(both.name());
      REQUIRE_MESSAGE(status.ok(), status.to_string());
    }
    // The first copy would already show: the variable itself is all that was there before.
    CHECK(before < bytes + small);
    CHECK(f.memory(*f.ps).peak_bytes_in_use < bytes + small);
    CHECK(counter("transport_pulls").value() == 0);
  }
}

TEST_CASE("tensor path: a gradient is applied from the buffer that it arrived in") {
  for (PathChoice choice : every_choice()) {
    Fixture f;
    Output gradient =
        ops::fill(f.on_worker, Tensor::vector<std::int32_t>({static_cast<int>(elements)}), 0.25f);
    Operation apply = ops::resource_apply_gradient_descent(f.on_ps, f.v.handle(), 2.0f, gradient);
    Output first = ops::max(f.on_ps, f.v.read(), Tensor::vector<std::int32_t>({0}));
    f.start(choice);
    REQUIRE(f.run(f.v.initializer().name()).ok());
    CAPTURE(to_string(choice));
    REQUIRE(f.run(apply.name()).ok());
    // The variable and one gradient: neither is copied, the variable is changed in place.
    CHECK(f.memory(*f.ps).peak_bytes_in_use < 2 * bytes + small);
    Status again = f.run(apply.name());
    REQUIRE_MESSAGE(again.ok(), again.to_string());
    auto value = f.session->run({}, {first.name()});
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    CHECK((*value)[0].value<float>() == 0.0f);
  }
}

TEST_CASE("tensor path: a traced step says which way a value came, how large and how fast") {
  for (PathChoice choice : every_choice()) {
    Fixture f;
    Output a = ops::identity(f.on_worker, f.v.read());
    f.start(choice);
    REQUIRE(f.run(f.v.initializer().name()).ok());
    RunMetadata metadata;
    REQUIRE(f.run(a.node_name(), &metadata).ok());
    std::string start = str_cat(to_string(choice), ", 16.0 MiB in ");
    int found = 0;
    for (const DeviceStats& device : metadata.step_stats.devices)
      for (const NodeStats& node : device.nodes)
        found +=
            node.op == "_Recv" && node.detail.starts_with(start) && node.detail.ends_with(" GB/s");
    CHECK(found == 1);
  }
}

TEST_CASE(
    "tensor path: over a stream, too, values come unasked, unless their receiver lends nothing") {
  for (bool lends : {true, false}) {
    CAPTURE(lends);
    Fixture f;
    f.lends = lends;
    constexpr int count = 200'000;
    GraphVariable w = variable(f.on_ps, "w", DType::float32, {count},
                               ops::fill(f.on_ps, Tensor::vector<std::int32_t>({count}), 1.0f));
    Output gradient = ops::neg(f.on_worker, w.read());
    Operation apply = ops::resource_apply_gradient_descent(f.on_ps, w.handle(), 1.0f, gradient);
    Output first = ops::max(f.on_ps, w.read(), Tensor::vector<std::int32_t>({0}));
    f.start(PathChoice::stream);
    REQUIRE(f.run(w.initializer().name()).ok());
    constexpr int steps = 30; // more than fit at once, either way
    for (int i = 0; i < steps; ++i) {
      Status status = f.run(apply.name());
      REQUIRE_MESSAGE(status.ok(), status.to_string());
    }
    auto value = f.session->run({}, {first.name()});
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    CHECK((*value)[0].value<float>() == static_cast<float>(1 << steps)); // doubled by each step
    for (const ClusterNode* node : {f.ps.get(), f.worker.get()})
      CHECK(node->services().push_lanes->num_pushed() == (lends ? steps - 1 : 0));
    RunMetadata metadata;
    REQUIRE(f.run(apply.name(), &metadata).ok());
    int received = 0;
    for (const DeviceStats& device : metadata.step_stats.devices)
      for (const NodeStats& node : device.nodes)
        received += node.op == "_Recv" && node.detail.starts_with("stream, 781.");
    CHECK(received == 2);
  }
}

TEST_CASE("tensor path: on one host what is not lent is asked for, what is not shown is copied") {
  for (bool lends : {true, false}) {
    CAPTURE(lends);
    Fixture f;
    f.lends = lends;
    f.shows = false;
    GraphVariable w =
        variable(f.on_ps, "w", DType::float32, {lent_elements},
                 ops::fill(f.on_ps, Tensor::vector<std::int32_t>({lent_elements}), 1.0f));
    Output read = ops::neg(f.on_worker, w.read());
    f.start(PathChoice::shared_memory);
    REQUIRE(f.run(w.initializer().name()).ok());
    for (int i = 0; i < 5; ++i)
      REQUIRE(f.run(read.node_name()).ok());
    CHECK(f.ps->services().lent_memory->num_placed() == (lends ? 4 : 0));
    CHECK(f.ps->services().lent_memory->num_shown() == 0);
  }
}

TEST_CASE("tensor path: after the first ones values come with the message that names them") {
  for (PathChoice choice : every_choice()) {
    Fixture f;
    auto dims = Tensor::vector<std::int32_t>({lent_elements});
    GraphVariable w =
        variable(f.on_ps, "w", DType::float32, {lent_elements}, ops::fill(f.on_ps, dims, 1.0f));
    Output gradient = ops::neg(f.on_worker, w.read());
    Operation apply = ops::resource_apply_gradient_descent(f.on_ps, w.handle(), 1.0f, gradient);
    Output first = ops::max(f.on_ps, w.read(), Tensor::vector<std::int32_t>({0}));
    f.start(choice);
    REQUIRE(f.run(w.initializer().name()).ok());
    constexpr int steps = 20; // more than fit at once, either way
    for (int i = 0; i < steps; ++i) {
      Status status = f.run(apply.name());
      REQUIRE_MESSAGE(status.ok(), status.to_string());
    }
    auto value = f.session->run({}, {first.name()});
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    CHECK((*value)[0].value<float>() == static_cast<float>(1 << steps)); // doubled by each step
    const bool is_lent = choice == PathChoice::shared_memory;
    for (const ClusterNode* node : {f.ps.get(), f.worker.get()})
      CHECK(node->services().lent_memory->num_placed() == (is_lent ? steps - 1 : 0));
    // The gradient was computed where it is applied; the variable's value is read where it lies.
    CHECK(f.worker->services().lent_memory->num_given() == (is_lent ? steps - 1 : 0));
    CHECK(f.ps->services().lent_memory->num_given() == 0);
    CHECK(f.ps->services().lent_memory->num_shown() == (is_lent ? steps - 1 : 0));
    CHECK(f.worker->services().lent_memory->num_shown() == 0);
    RunMetadata metadata;
    REQUIRE(f.run(apply.name(), &metadata).ok());
    std::string start = str_cat(to_string(choice), ", 1.1 MiB in ");
    int copied = 0, given = 0, shown = 0;
    for (const DeviceStats& device : metadata.step_stats.devices)
      for (const NodeStats& node : device.nodes) {
        copied += node.op == "_Recv" && node.detail.starts_with(start);
        given += node.detail == "shared-memory, 1.1 MiB, computed there";
        shown += node.detail == "shared-memory, 1.1 MiB, read where it lies";
      }
    CHECK(copied == (is_lent ? 0 : 2));
    CHECK(given == (is_lent ? 1 : 0));
    CHECK(shown == (is_lent ? 1 : 0));
    f.session.reset();
    CHECK(f.slots_in_use() == 0);
  }
}

TEST_CASE("tensor path: what a reader keeps of a variable does not change with it") {
  for (VariableKind kind : {VariableKind::resource, VariableKind::reference}) {
    Fixture f;
    auto dims = Tensor::vector<std::int32_t>({lent_elements});
    GraphVariable w = variable(f.on_ps, "w", DType::float32, {lent_elements},
                               ops::fill(f.on_ps, dims, 1.0f), kind);
    GraphVariable kept = variable(f.on_worker, "kept", DType::float32, {lent_elements},
                                  ops::fill(f.on_worker, dims, 0.0f), VariableKind::resource);
    Operation keep = ops::assign_variable_op(f.on_worker, kept.handle(), w.read());
    Output one = ops::fill(f.on_ps, dims, 1.0f);
    const std::string add = kind == VariableKind::resource
                                ? ops::assign_add_variable_op(f.on_ps, w.handle(), one).name()
                                : ops::assign_add(f.on_ps, w.handle(), one).node_name();
    Operation add_to_kept = ops::assign_add_variable_op(f.on_worker, kept.handle(),
                                                        ops::fill(f.on_worker, dims, 100.0f));
    auto axis = Tensor::vector<std::int32_t>({0});
    Output highest = ops::max(f.on_worker, kept.read(), axis),
           lowest = ops::min(f.on_worker, kept.read(), axis),
           current = ops::max(f.on_ps, w.read(), axis);
    f.start(PathChoice::shared_memory);
    REQUIRE(f.run(w.initializer().name()).ok());
    REQUIRE(f.run(kept.initializer().name()).ok());
    auto values = [&] {
      auto out = f.session->run({}, {highest.name(), lowest.name(), current.name()});
      REQUIRE_MESSAGE(out.ok(), out.status().to_string());
      CHECK((*out)[0].value<float>() == (*out)[1].value<float>());
      return std::pair((*out)[0].value<float>(), (*out)[2].value<float>());
    };
    for (int i = 1; i < 20; ++i) {
      Status status = f.run(keep.name());
      REQUIRE_MESSAGE(status.ok(), status.to_string());
      CHECK(values() == std::pair(static_cast<float>(i), static_cast<float>(i)));
      CHECK(f.ps->services().lent_memory->slots_in_use() == 0); // it has a value of its own
      REQUIRE(f.run(add).ok());
      CHECK(values() == std::pair(static_cast<float>(i), static_cast<float>(i + 1)));
      if (i % 5 == 0) { // what is read elsewhere is not written there
        REQUIRE(f.run(add_to_kept.name()).ok());
        CHECK(values() == std::pair(static_cast<float>(i + 100), static_cast<float>(i + 1)));
      }
    }
    CHECK(f.ps->services().lent_memory->num_shown() >= 18);
    // The client fetches what lies in shown memory, and may write what it has.
    auto fetched = f.session->run({}, {w.read().name()});
    REQUIRE_MESSAGE(fetched.ok(), fetched.status().to_string());
    (*fetched)[0].mutable_data<float>()[0] = -1.0f;
    CHECK(values() == std::pair(19.0f, 20.0f));
    f.session.reset();
  }
}

TEST_CASE("tensor path: steps that fail leave nothing in memory that was lent") {
  Fixture f;
  auto dims = Tensor::vector<std::int32_t>({lent_elements});
  GraphVariable w =
      variable(f.on_ps, "w", DType::float32, {lent_elements}, ops::fill(f.on_ps, dims, 1.0f));
  Output missing = ops::placeholder(f.on_worker.named("missing"), DType::float32);
  Output sum = ops::add_v2(f.on_worker.named("sum"), w.read(), missing);
  Output good = ops::identity(f.on_worker.named("good"), w.read());
  f.start(PathChoice::best);
  REQUIRE(f.run(w.initializer().name()).ok());
  REQUIRE(f.run(good.node_name()).ok());
  for (int i = 0; i < 100; ++i)
    CHECK(f.run(sum.node_name()).code() == Code::invalid_argument);
  std::uint64_t before = f.ps->services().lent_memory->num_placed();
  for (int i = 0; i < 5; ++i) {
    Status status = f.run(good.node_name());
    REQUIRE_MESSAGE(status.ok(), status.to_string());
  }
  CHECK(f.ps->services().lent_memory->num_placed() == before + 5);
  f.session.reset();
  CHECK(f.slots_in_use() == 0);
}

TEST_CASE("tensor path: what one end asks for by name and the other refuses is an error") {
  Fixture f;
  Output a = ops::identity(f.on_worker, f.v.read());
  f.start(PathChoice::stream, PathChoice::shared_memory);
  REQUIRE(f.run(f.v.initializer().name()).ok());
  for (int i = 0; i < 2; ++i) { // the second step is told as well
    Status status = f.run(a.node_name());
    CHECK(status.code() == Code::failed_precondition);
    CHECK_MESSAGE(status.message().find("give both the same") != std::string::npos,
                  status.to_string());
  }
}

TEST_CASE("tensor path: large feeds and fetches take it too, within memory-limit") {
  Fixture f;
  Output x = ops::placeholder(f.on_worker.named("x"), DType::float32);
  Output y = ops::neg(f.on_worker.named("y"), x);
  f.start(PathChoice::best);
  Tensor sent = Tensor::make(DType::float32, {elements});
  for (float& value : sent.mutable_data<float>())
    value = static_cast<float>(&value - sent.mutable_data<float>().data());
  auto got = f.session->run({{"x", sent}}, {"y"});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  bool is_right = true;
  for (std::size_t i = 0; i < sent.data<float>().size(); ++i)
    is_right = is_right && (*got)[0].data<float>()[i] == -sent.data<float>()[i];
  CHECK(is_right);
  auto sentences = f.worker->services().path_book->sentences();
  REQUIRE_MESSAGE(sentences.size() == 2, str_join(sentences, "; ")); // from the client and to it
  for (const std::string& sentence : sentences)
    CHECK_MESSAGE(sentence.find("client: shared-memory, 1 tensors, 16.0 MiB") != std::string::npos,
                  sentence);
}

TEST_CASE("tensor path: a value of a task that uses several devices alone fits in no message") {
  Fixture f;
  f.cpu_devices = 2;
  constexpr int many = 20'000'000; // more bytes than a message may have
  Output filled = ops::fill(f.root.on("/job:ps/task:0/device:CPU:0"), Tensor::vector({many}),
                            Tensor::scalar(2.0f));
  Output y = ops::neg(f.root.on("/job:ps/task:0/device:CPU:1"), filled);
  f.start(PathChoice::best);
  for (int i = 0; i < 2; ++i) {
    auto fetched = f.session->run({}, {y.name()});
    REQUIRE_MESSAGE(fetched.ok(), fetched.status().to_string());
    REQUIRE((*fetched)[0].num_elements() == many);
    CHECK((*fetched)[0].data<float>().back() == -2.0f);
  }
}

} // namespace troupe::tensor_path_test
