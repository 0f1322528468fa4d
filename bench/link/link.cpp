// A wire between two network namespaces, for kernels without netem: what one end sends comes out of
// the other after a delay, no faster than a rate.
//
//   bench_link NAMESPACE_A NAMESPACE_B BITS_PER_SECOND DELAY_US
//
// Makes a device "wire" in each namespace (root, /dev/net/tun), says "ready", and carries packets
// until it is ended. Segments travel as the kernel hands them out, up to 64 KiB at a time, so that
// carrying takes little of the machine.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr std::size_t most_bytes = (64 << 10) + 256;
constexpr std::int64_t longest_queue_ns = 20'000'000; // as a switch's; what comes then is lost
constexpr std::int64_t almost_ns = 60'000;            // no sleep is so short

std::int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bench_link: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

int open_end(const std::string& space) {
  const int in = ::open(("/var/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0 || ::setns(in, CLONE_NEWNET) != 0)
    fail("namespace " + space);
  ::close(in);
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  std::strcpy(request.ifr_name, "wire");
  if (fd < 0 || ::ioctl(fd, TUNSETIFF, &request) != 0)
    fail("a device in " + space);
  if (::ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    fail("segments of several packets");
  return fd;
}

struct Packet {
  std::int64_t due_ns = 0;
  std::vector<char> bytes;
};

class Direction {
public:
  Direction(int from, int to, double bits_per_second, std::int64_t delay_ns)
      : from_(from), to_(to), ns_per_byte_(bits_per_second > 0 ? 8e9 / bits_per_second : 0),
        delay_ns_(delay_ns), buffer_(most_bytes) {}

  /// Takes what has been sent.
  void take() {
    for (int i = 0; i < 64; ++i) {
      const ssize_t got = ::read(from_, buffer_.data(), buffer_.size());
      if (got <= 0)
        return;
      const std::int64_t now = now_ns();
      free_ns_ = std::max(free_ns_, now);
      if (free_ns_ - now > longest_queue_ns)
        continue;
      free_ns_ += static_cast<std::int64_t>(ns_per_byte_ * static_cast<double>(got));
      Packet packet;
      if (!spare_.empty()) {
        packet.bytes = std::move(spare_.back());
        spare_.pop_back();
      }
      packet.due_ns = free_ns_ + delay_ns_;
      packet.bytes.assign(buffer_.begin(), buffer_.begin() + got);
      under_way_.push_back(std::move(packet));
    }
  }
  /// Hands out what has been under way for long enough.
  void give() {
    while (!under_way_.empty() && under_way_.front().due_ns <= now_ns()) {
      Packet& packet = under_way_.front();
      [[maybe_unused]] auto written = ::write(to_, packet.bytes.data(), packet.bytes.size());
      if (spare_.size() < 256)
        spare_.push_back(std::move(packet.bytes));
      under_way_.pop_front();
    }
  }
  std::int64_t due_ns() const { return under_way_.empty() ? INT64_MAX : under_way_.front().due_ns; }

private:
  int from_, to_;
  double ns_per_byte_;
  std::int64_t delay_ns_, free_ns_ = 0;
  std::vector<char> buffer_;
  std::deque<Packet> under_way_;
  std::vector<std::vector<char>> spare_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "bench_link NAMESPACE_A NAMESPACE_B BITS_PER_SECOND DELAY_US\n");
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, 15);
  ::prctl(PR_SET_TIMERSLACK, 1);
  const int a = open_end(argv[1]), b = open_end(argv[2]);
  const double rate = std::strtod(argv[3], nullptr);
  const std::int64_t delay_ns = std::strtoll(argv[4], nullptr, 10) * 1000;
  Direction there(a, b, rate, delay_ns), back(b, a, rate, delay_ns);
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) {
    const std::int64_t left = std::min(there.due_ns(), back.due_ns()) - now_ns();
    pollfd ends[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    const bool is_idle = left > 1'000'000'000;
    const std::int64_t sleep_ns = std::max<std::int64_t>(left - almost_ns, 0);
    timespec wait{0, static_cast<long>(is_idle ? 0 : sleep_ns)};
    if (::ppoll(ends, 2, is_idle ? nullptr : &wait, nullptr) < 0 && errno != EINTR)
      fail("waiting");
    there.take();
    back.take();
    there.give();
    back.give();
  }
}
