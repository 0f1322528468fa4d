// How fast a variable of a parameter server reaches a worker, step by step, for several sizes.
//
//   bench_paths CLUSTER.CONF [LARGEST_MIB]
//
// The cluster runs already, with jobs ps and worker; worker 0 is the master. Beside each size: a
// step without the transfer, and raw TCP over loopback.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/ops.hpp"
#include "api/scope.hpp"
#include "api/session.hpp"
#include "api/variable.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"
#include "net/data/sockets.hpp"

namespace troupe {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <class F>
double seconds(F f) {
  std::int64_t begin = steady_micros();
  f();
  return static_cast<double>(steady_micros() - begin) * 1e-6;
}

// A sender and a receiver with warm buffers; the receiver answers with a byte.
Result<double> raw_tcp(std::size_t bytes) {
  std::uint16_t port = 0;
  TROUPE_ASSIGN(data::Fd listener, data::listen_tcp("127.0.0.1", port));
  TROUPE_ASSIGN(data::Fd out, data::connect_tcp("127.0.0.1", port));
  int in = -1;
  while ((in = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) < 0) {
  }
  data::Fd accepted(in);
  int flags = 0;
  ::ioctl(out.get(), FIONBIO, &flags);
  const int rounds = bytes >= (std::size_t{64} << 20) ? 3 : 20;
  std::thread sender([&] {
    std::vector<char> from(bytes, 1);
    char go = 0;
    for (int i = 0; i < rounds + 1; ++i) {
      for (std::size_t at = 0; at < bytes;) {
        ssize_t n = ::send(out.get(), from.data() + at, bytes - at, MSG_NOSIGNAL);
        if (n <= 0)
          return;
        at += static_cast<std::size_t>(n);
      }
      if (::recv(out.get(), &go, 1, 0) != 1)
        return;
    }
  });
  std::vector<char> to(bytes);
  std::vector<double> times;
  for (int i = 0; i < rounds + 1; ++i)
    times.push_back(seconds([&] {
      for (std::size_t at = 0; at < bytes;) {
        ssize_t n = ::recv(in, to.data() + at, bytes - at, 0);
        if (n <= 0)
          return;
        at += static_cast<std::size_t>(n);
      }
      [[maybe_unused]] auto sent = ::send(in, "x", 1, MSG_NOSIGNAL);
    }));
  sender.join();
  times.erase(times.begin()); // the first waits for the thread
  return median(times);
}

Status measure(const std::string& file, std::size_t largest) {
  TROUPE_ASSIGN(NodeConfig worker, read_node_config(file, "worker", 0));
  TROUPE_ASSIGN(Session session, Session::open(str_cat("caf://", worker.address)));
  Scope root = Scope::root();
  Scope ps = root.on("/job:ps/task:0"), there = root.on("/job:worker/task:0");
  Output one = ops::placeholder(ps.named("one"), DType::float32);
  Output null = ops::identity(there.named("null"), one);
  TROUPE_TRY(session.extend(root));
  auto time_steps = [&](const Feeds& feeds, const std::string& target,
                        int count) -> Result<std::pair<double, double>> {
    std::vector<double> times;
    TROUPE_TRY(session.run(feeds, {}, {target}).status());
    double first = seconds([&] { (void)session.run(feeds, {}, {target}); });
    Status status;
    for (int i = 0; i < count && status.ok(); ++i)
      times.push_back(seconds([&] { status = session.run(feeds, {}, {target}).status(); }));
    TROUPE_TRY(status);
    return std::pair(median(times), first);
  };
  TROUPE_ASSIGN(auto empty, time_steps({{"one", Tensor::scalar(1.0f)}}, null.node_name(), 200));
  std::printf("a step that moves 4 bytes: %.0f us\n", empty.first * 1e6);
  std::printf("%10s %12s %10s %10s %14s\n", "KiB", "step us", "GB/s", "raw TCP", "step/raw TCP");
  for (std::size_t bytes = 64 << 10; bytes <= largest; bytes *= 4) {
    auto elements = static_cast<std::int64_t>(bytes / 4 + (bytes == (64 << 10)));
    std::string name = str_cat("v", bytes);
    Output filled = ops::fill(ps, Tensor::vector<std::int32_t>({static_cast<int>(elements)}), 1.0f);
    GraphVariable v = variable(ps, name, DType::float32, {elements}, filled);
    Output read = ops::identity(there.named(name + "_here"), v.read());
    TROUPE_TRY(session.extend(root));
    TROUPE_TRY(session.run({}, {}, {v.initializer().name()}).status());
    int count = bytes >= (std::size_t{64} << 20) ? 7 : bytes >= (1 << 20) ? 60 : 300;
    TROUPE_ASSIGN(auto took, time_steps({}, read.node_name(), count));
    TROUPE_ASSIGN(double tcp, raw_tcp(bytes));
    auto rate = [&](double time) { return static_cast<double>(bytes) / time * 1e-9; };
    std::printf("%10zu %12.0f %10.2f %10.2f %14.2f\n", bytes >> 10, took.first * 1e6,
                rate(took.first), rate(tcp), rate(took.first) / rate(tcp));
    std::fflush(stdout);
  }
  return {};
}

} // namespace
} // namespace troupe

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "bench_paths CLUSTER.CONF [LARGEST_MIB]\n");
    return 2;
  }
  std::size_t largest = std::size_t{argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024} << 20;
  troupe::Status status = troupe::measure(argv[1], largest);
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
