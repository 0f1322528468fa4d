// What the machine itself can do: bytes copied, bytes through a TCP connection on loopback, a
// thread woken, a byte sent there and back, multiply-adds. Reads one command a line, answers with
// one line of JSON; standard library and system calls only.
//
//   copy BYTES         {"micros": to copy them, memory already touched}
//   tcp BYTES          {"micros": from asking another process for them until all are in
//                      a buffer that is used again each time}
//   tcp_sum BYTES      {"micros": the same, and the floats that came added up on one thread}
//   listen ADDRESS     {} once a process of this program on another host may ask there
//   from ADDRESS BYTES {"micros": as tcp_sum, of what listens there, the median of many}
//   round_trip         {"micros": one byte to another process and back, over TCP}
//   wake               {"micros": from waking a thread that sleeps on another core until it runs,
//                      the median of many}
//   multiply_add N     {"gflops": of N threads, two operations for each multiply-add}
//
// The others are the best of many runs.
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr double seconds_for_each = 0.7;

double micros_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// The shortest that `once` takes, over so many runs as fit the time, three at least: a limit is
// what the machine can do when nobody else wants it.
template <class F>
double best_micros(F once) {
  once();
  double best = 1e30;
  int runs = 0;
  for (auto begin = Clock::now(); runs < 3 || micros_since(begin) < seconds_for_each * 1e6;
       ++runs) {
    auto start = Clock::now();
    once();
    best = std::min(best, micros_since(start));
  }
  return best;
}

double median(std::vector<double>& values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double copy_micros(std::size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes, 2);
  return best_micros([&] {
    std::memcpy(to.data(), from.data(), bytes);
    asm volatile("" : : "r"(to.data()) : "memory");
  });
}

void write_all(int socket, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    ssize_t sent = send(socket, data, bytes, MSG_NOSIGNAL);
    if (sent <= 0)
      _exit(0);
    data += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

bool read_all(int socket, char* data, std::size_t bytes) {
  while (bytes > 0) {
    ssize_t got = recv(socket, data, bytes, 0);
    if (got <= 0)
      return false;
    data += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

// A listener that is not bound yet, or a connection, and what both ends of one do.
int new_socket() {
  return socket(AF_INET, SOCK_STREAM, 0);
}
void no_delay(int socket) {
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
sockaddr_in address_of(in_addr_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = host;
  address.sin_port = htons(port);
  return address;
}
bool ask(int socket, char* into, std::uint64_t bytes) {
  write_all(socket, reinterpret_cast<const char*>(&bytes), sizeof bytes);
  return read_all(socket, into, bytes);
}

// Answers each number that comes with as many bytes.
void serve(int socket) {
  no_delay(socket);
  std::vector<char> data;
  for (std::uint64_t bytes; read_all(socket, reinterpret_cast<char*>(&bytes), sizeof bytes);) {
    data.resize(bytes, 3);
    write_all(socket, data.data(), bytes);
  }
}

// A process at the other end of a TCP connection.
class FarEnd {
public:
  FarEnd() {
    int listener = new_socket();
    sockaddr_in address = address_of(htonl(INADDR_LOOPBACK), 0);
    socklen_t length = sizeof address;
    bind(listener, reinterpret_cast<sockaddr*>(&address), length);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    child_ = fork();
    if (child_ == 0) {
      serve(accept(listener, nullptr, nullptr));
      _exit(0);
    }
    socket_ = new_socket();
    connect(socket_, reinterpret_cast<sockaddr*>(&address), length);
    no_delay(socket_);
    close(listener);
  }
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;
  ~FarEnd() {
    close(socket_);
    waitpid(child_, nullptr, 0);
  }
  void give(char* into, std::size_t bytes) { ask(socket_, into, bytes); }

private:
  int socket_ = -1;
  pid_t child_ = -1;
};

double tcp_micros(std::size_t bytes) {
  std::vector<char> buffer(bytes, 0);
  FarEnd far_end;
  return best_micros([&] { far_end.give(buffer.data(), bytes); });
}

typedef float Lanes4 __attribute__((vector_size(16)));
typedef float Lanes8 __attribute__((vector_size(32)));
typedef float Lanes16 __attribute__((vector_size(64)));

// Four sums that do not wait for each other: what a core reads is the limit, not what it adds.
float sum_of(const Lanes4* lanes, std::size_t count) {
  Lanes4 a{}, b{}, c{}, d{};
  for (std::size_t i = 0; i + 4 <= count; i += 4)
    a += lanes[i], b += lanes[i + 1], c += lanes[i + 2], d += lanes[i + 3];
  a += b + c + d;
  return a[0] + a[1] + a[2] + a[3];
}

double tcp_sum_micros(std::size_t bytes) {
  std::vector<Lanes4> buffer(std::max<std::size_t>(4, bytes / sizeof(Lanes4)));
  FarEnd far_end;
  return best_micros([&] {
    far_end.give(reinterpret_cast<char*>(buffer.data()), bytes);
    [[maybe_unused]] volatile float kept = sum_of(buffer.data(), bytes / sizeof(Lanes4));
  });
}

constexpr std::uint16_t port = 7290;

bool listen_at(const std::string& host) {
  int listener = new_socket();
  const sockaddr_in address = address_of(inet_addr(host.c_str()), port);
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 1) != 0)
    return false;
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int connection; (connection = accept(listener, nullptr, nullptr)) >= 0;) {
      serve(connection);
      close(connection);
    }
    _exit(0);
  }
  close(listener);
  return true;
}

double from_micros(const std::string& host, std::size_t bytes) {
  int connection = new_socket();
  const sockaddr_in address = address_of(inet_addr(host.c_str()), port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return -1;
  no_delay(connection);
  std::vector<Lanes4> buffer(std::max<std::size_t>(4, bytes / sizeof(Lanes4)));
  std::vector<double> micros;
  for (auto begin = Clock::now();
       micros.size() < 6 || micros_since(begin) < seconds_for_each * 1e6;) {
    auto start = Clock::now();
    if (!ask(connection, reinterpret_cast<char*>(buffer.data()), bytes))
      return -1;
    [[maybe_unused]] volatile float kept = sum_of(buffer.data(), bytes / sizeof(Lanes4));
    micros.push_back(micros_since(start));
  }
  close(connection);
  micros.erase(micros.begin()); // memory is touched and the window grows
  return median(micros);
}

// A door that is passed once for each knock; the waiter sleeps in the kernel at once.
class Door {
public:
  /// Whether somebody slept before it.
  bool knock() {
    knocks_.store(1);
    return syscall(SYS_futex, &knocks_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 1;
  }
  void pass() {
    while (knocks_.exchange(0) == 0)
      syscall(SYS_futex, &knocks_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  }

private:
  std::atomic<std::uint32_t> knocks_{0};
};

// To the given core, if there is one.
void stay_on(std::size_t core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

// Two threads that answer each other at once never sleep: each finds the other's word before it
// waits, in a tenth of a microsecond. So the sleeper is left alone until its core rests, and a
// knock counts only if the kernel says that it woke somebody. The median, since the time that a
// core takes to wake up is what is asked for and the best would be a core that had not gone to
// rest.
double wake_micros() {
  constexpr double rest = 100; // micros
  Door door;
  std::atomic<bool> ends{false};
  std::atomic<std::int64_t> woke_at{0};
  auto now = [] { return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1); };
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  stay_on(0);
  std::thread sleeper([&] {
    stay_on(1);
    for (door.pass(); !ends; door.pass())
      woke_at = now();
  });
  std::vector<double> micros;
  for (auto begin = Clock::now(); micros_since(begin) < seconds_for_each * 1e6;) {
    for (auto left = Clock::now(); micros_since(left) < rest;)
      ;
    woke_at = 0;
    std::int64_t knocked_at = now();
    bool slept = door.knock();
    while (woke_at == 0)
      sched_yield(); // it may have this core
    if (slept)
      micros.push_back(static_cast<double>(woke_at - knocked_at) / 1e3);
  }
  ends = true;
  door.knock();
  sleeper.join();
  sched_setaffinity(0, sizeof before, &before);
  if (micros.empty())
    return -1;
  return median(micros);
}

// Twelve sums that do not wait for each other, so that every unit of a core stays busy.
template <class Lanes>
[[gnu::always_inline]] inline float sum_up(std::int64_t rounds) {
  Lanes a{}, b{};
  for (std::size_t i = 0; i < sizeof(Lanes) / sizeof(float); ++i) {
    a[i] = 1.0f + 1e-7f;
    b[i] = 1e-9f;
  }
  // All different, or the compiler would see that one of them is enough.
  Lanes s0 = a, s1 = a + b, s2 = s1 * a, s3 = s2 * a, s4 = s3 * a, s5 = s4 * a, s6 = s5 * a,
        s7 = s6 * a, s8 = s7 * a, s9 = s8 * a, s10 = s9 * a, s11 = s10 * a;
  for (std::int64_t round = 0; round < rounds; ++round) {
    s0 = s0 * a + b, s1 = s1 * a + b, s2 = s2 * a + b, s3 = s3 * a + b;
    s4 = s4 * a + b, s5 = s5 * a + b, s6 = s6 * a + b, s7 = s7 * a + b;
    s8 = s8 * a + b, s9 = s9 * a + b, s10 = s10 * a + b, s11 = s11 * a + b;
  }
  Lanes sum = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11;
  return sum[0];
}

__attribute__((target("avx512f"))) float multiply_add_512(std::int64_t rounds) {
  return sum_up<Lanes16>(rounds);
}
__attribute__((target("avx2,fma"))) float multiply_add_256(std::int64_t rounds) {
  return sum_up<Lanes8>(rounds);
}
float multiply_add_128(std::int64_t rounds) {
  return sum_up<Lanes4>(rounds);
}

// The best burst of each thread: a peak, whoever else uses the machine.
double multiply_add_gflops(int threads) {
  constexpr std::int64_t rounds = 200'000;
  bool wide = __builtin_cpu_supports("avx512f"), fma = __builtin_cpu_supports("fma");
  auto work = wide ? multiply_add_512 : fma ? multiply_add_256 : multiply_add_128;
  double lanes = wide ? 16 : fma ? 8 : 4;
  std::vector<double> best(static_cast<std::size_t>(threads), 1e30);
  std::vector<std::thread> all;
  for (double& fastest : best)
    all.emplace_back([&] {
      for (auto begin = Clock::now(); micros_since(begin) < seconds_for_each * 1e6;) {
        auto start = Clock::now();
        [[maybe_unused]] volatile float kept = work(rounds);
        fastest = std::min(fastest, micros_since(start));
      }
    });
  double total = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].join();
    total += 2 * 12 * lanes * static_cast<double>(rounds) / best[i] / 1e3;
  }
  return total;
}

} // namespace

int main() {
  signal(SIGPIPE, SIG_IGN);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command, host;
    std::size_t amount = 0;
    in >> command;
    if (command == "listen" || command == "from")
      in >> host;
    in >> amount;
    std::ostringstream out;
    out.precision(9);
    if (command == "multiply_add") {
      out << "{\"gflops\": " << multiply_add_gflops(static_cast<int>(amount)) << "}";
    } else if (command == "listen" && listen_at(host)) {
      out << "{}";
    } else {
      double micros = command == "copy"         ? copy_micros(amount)
                      : command == "tcp"        ? tcp_micros(amount)
                      : command == "tcp_sum"    ? tcp_sum_micros(amount)
                      : command == "from"       ? from_micros(host, amount)
                      : command == "round_trip" ? tcp_micros(1)
                      : command == "wake"       ? wake_micros()
                                                : -1;
      if (micros < 0)
        out << "{\"error\": \"cannot measure " << command << "\"}";
      else
        out << "{\"micros\": " << micros << "}";
    }
    std::cout << out.str() << std::endl;
  }
}
