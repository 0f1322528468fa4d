// Nodes at real ports, beside peers that mangle what they say, that are of another cluster, or that
// come again and again.
//
// TROUPE_MUTATIONS sets how many mutated conversations are tried; without it few are. The seed is
// fixed, and a failure names the number of the mutation.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <list>
#include <mutex>
#include <random>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "actors/node/node.hpp"
#include "api/ops.hpp"
#include "api/session.hpp"
#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "tests/support/free_port.hpp"

namespace troupe::port_test {

using troupe::testing::free_port;

namespace {

constexpr std::size_t header_bytes = 32, identity_bytes = 32;

int mutations(int without_variable) {
  const char* wanted = std::getenv("TROUPE_MUTATIONS");
  return wanted ? std::atoi(wanted) : without_variable;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

struct Socket {
  int fd;
  explicit Socket(int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
      : fd(descriptor) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd >= 0)
      ::close(fd);
  }
  std::uint16_t bind() const {
    sockaddr_in at = loopback(0);
    socklen_t size = sizeof at;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    return ntohs(at.sin_port);
  }
  bool connect(std::uint16_t port) const {
    sockaddr_in to = loopback(port);
    return ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
};

// A stream cut into what it consists of: headers with their payloads.
std::vector<std::string> frames_of(std::string_view stream) {
  std::vector<std::string> out;
  while (stream.size() >= header_bytes) {
    std::size_t payload = 0;
    for (int i = 4; i < 8; ++i)
      payload = payload << 8 | static_cast<unsigned char>(stream[static_cast<std::size_t>(i)]);
    std::size_t size = std::min(stream.size(), header_bytes + payload);
    out.emplace_back(stream.substr(0, size));
    stream.remove_prefix(size);
  }
  return out;
}

void set_length(std::string& frame) {
  std::size_t payload = frame.size() - header_bytes;
  for (std::size_t i = 0; i < 4; ++i)
    frame[4 + i] = static_cast<char>(payload >> (24 - 8 * i));
}

// One thing in a conversation is not as its speaker meant it.
class Mutator {
public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  void mutate(std::vector<std::string>& frames) {
    if (frames.empty())
      return;
    std::size_t at = pick(frames.size());
    std::string& frame = frames[at];
    std::size_t payload = frame.size() - header_bytes;
    switch (pick(11)) {
    case 0: // a bit of the header
      frame[pick(header_bytes)] ^= static_cast<char>(1 << pick(8));
      break;
    case 1: // the kind of the message's number: answer, request, stream
      frame[8] = static_cast<char>(pick(16) << 4);
      break;
    case 2: // another actor
      frame[31] = static_cast<char>(pick(120));
      break;
    case 3:
      std::swap(frame, frames[pick(frames.size())]);
      break;
    case 4:
      frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(at), std::string(frame));
      break;
    case 5:
      frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 6: // the end is missing
      frame.resize(header_bytes + pick(payload + 1));
      set_length(frame);
      break;
    case 7: // extreme numbers
      for (std::size_t i = 0, from = header_bytes + pick(payload); i < 8 && from + i < frame.size();
           ++i)
        frame[from + i] = static_cast<char>(pick(2) ? 0xff : 0x7f);
      break;
    case 8: // several bytes
      for (int i = 0; i < 5 && payload > 0; ++i)
        frame[header_bytes + pick(payload)] = static_cast<char>(random_());
      break;
    default: // a bit of the content
      if (payload > 0)
        frame[header_bytes + pick(payload)] ^= static_cast<char>(1 << pick(8));
    }
  }

private:
  std::mt19937_64 random_;
};

// Stands before a node's port: records what those who dial say, and mangles, when told to, one
// frame of what passes in either direction.
class Relay {
public:
  explicit Relay(std::uint16_t to) : to_(to) {
    port = listener_.bind();
    REQUIRE(::listen(listener_.fd, 64) == 0);
    accepting_ = std::thread([this] { accept(); });
  }
  ~Relay() {
    ::shutdown(listener_.fd, SHUT_RDWR);
    accepting_.join();
    for (Connection& connection : connections_) {
      ::shutdown(connection.near.fd, SHUT_RDWR);
      ::shutdown(connection.far.fd, SHUT_RDWR);
      connection.there.join();
      connection.back.join();
    }
  }
  // What the last one who dialled has said so far.
  std::string recorded() {
    std::scoped_lock guard(lock_);
    return connections_.empty() ? "" : connections_.back().said;
  }
  // The frame after so many others is mangled.
  void mangle_after(int frames, std::uint64_t seed) {
    std::scoped_lock guard(lock_);
    seed_ = seed;
    countdown_ = frames;
  }
  std::uint16_t port = 0;

private:
  struct Connection {
    Socket near, far;
    std::string said;
    std::thread there, back;
    explicit Connection(int accepted) : near(accepted) {}
  };

  void accept() {
    for (;;) {
      int fd = ::accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0)
        return;
      std::scoped_lock guard(lock_);
      Connection& connection = connections_.emplace_back(fd);
      int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      ::setsockopt(connection.far.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      bool reached = connection.far.connect(to_);
      if (!reached)
        ::shutdown(fd, SHUT_RDWR);
      connection.there =
          std::thread([&] { pass(connection.near, connection.far, &connection.said); });
      connection.back = std::thread([&] { pass(connection.far, connection.near, nullptr); });
    }
  }

  void pass(const Socket& from, const Socket& to, std::string* said) {
    std::string waiting; // the beginning of a frame
    std::vector<char> piece(64 * 1024);
    for (;;) {
      ssize_t got = ::recv(from.fd, piece.data(), piece.size(), 0);
      if (got <= 0)
        break;
      waiting.append(piece.data(), static_cast<std::size_t>(got));
      std::string passing;
      for (auto frames = frames_of(waiting); !frames.empty(); frames = frames_of(waiting)) {
        std::string frame = frames.front();
        std::string whole = frame;
        set_length(whole);
        if (whole != frame)
          break; // its end has not come
        waiting.erase(0, frame.size());
        std::scoped_lock guard(lock_);
        if (said)
          *said += frame;
        std::vector<std::string> mangled{frame};
        if (countdown_ >= 0 && countdown_-- == 0)
          Mutator(seed_).mutate(mangled);
        for (const std::string& x : mangled)
          passing += x;
      }
      if (!to.send(passing))
        break;
    }
    ::shutdown(from.fd, SHUT_RDWR);
    ::shutdown(to.fd, SHUT_RDWR);
  }

  std::uint16_t to_;
  Socket listener_;
  std::thread accepting_;
  std::mutex lock_; // guards what follows
  std::list<Connection> connections_;
  std::uint64_t seed_ = 0;
  int countdown_ = -1;
};

NodeOptions options_of(const Cluster& cluster, const char* job, std::uint16_t listen) {
  NodeOptions options;
  options.cluster = cluster;
  options.job = job;
  options.compute_threads = 1;
  options.listen = Address{"127.0.0.1", listen};
  options.tensor_paths.choice = PathChoice::messages; // so that all passes the relays
  options.timeouts.orphan = std::chrono::seconds(2);
  return options;
}

std::unique_ptr<ClusterNode> start(const NodeOptions& options) {
  auto node = ClusterNode::start(options);
  REQUIRE_MESSAGE(node.ok(), node.status().to_string());
  return *std::move(node);
}

// A value goes from the client to the ps, to the worker and back to the client.
Scope make_graph() {
  Scope root = Scope::root();
  Output x = root.named("x")
                 .add("Placeholder", std::vector<Output>{}, {{"dtype", DType::float32}})
                 .output(0);
  Output on_ps = ops::neg(root.on("/job:ps/task:0"), x);
  ops::neg(root.on("/job:worker/task:0").named("y"), on_ps);
  return root;
}

Status compute(Session& session) {
  RunOptions options;
  options.timeout_ms = 20'000;
  // More than a message holds: it goes as pieces.
  auto result = session.run({{"x", Tensor::zeros(DType::float32, {40'000})}}, {"y"}, {}, options);
  if (result.ok())
    CHECK(result->at(0).num_elements() == 40'000);
  return result.status();
}

Result<Session> open(std::uint16_t port, std::int64_t timeout_ms = 0) {
  SessionOptions options;
  options.operation_timeout_ms = timeout_ms;
  return Session::open(str_cat("caf://127.0.0.1:", port), options);
}

// Counters of what a session takes; all nodes are in this process.
std::map<std::string, std::int64_t> taken() {
  std::map<std::string, std::int64_t> out;
  for (const char* name : {"worker_sessions", "master_sessions", "graphs", "steps", "rendezvous",
                           "transport_offers", "transport_pulls", "dials"})
    out[name] = counter(name).value();
  return out;
}

void check_given_back(const std::map<std::string, std::int64_t>& before) {
  for (std::int64_t end = steady_micros() + 120'000'000;
       taken() != before && steady_micros() < end;)
    std::this_thread::yield();
  for (const auto& [name, value] : taken())
    CHECK_MESSAGE(value == before.at(name), name);
}

struct Nodes {
  std::uint16_t ps_port = free_port(), worker_port = free_port();
  Relay to_ps{ps_port}, to_worker{worker_port};
  std::unique_ptr<ClusterNode> ps, worker;

  Nodes() {
    Cluster cluster;
    REQUIRE(cluster.add("ps", 0, Address{"127.0.0.1", to_ps.port}).ok());
    REQUIRE(cluster.add("worker", 0, Address{"127.0.0.1", to_worker.port}).ok());
    ps = start(options_of(cluster, "ps", ps_port));
    worker = start(options_of(cluster, "worker", worker_port));
  }
  void check_alive() {
    for (auto* node : {ps.get(), worker.get()})
      if (node->wait_for(std::chrono::milliseconds(0)))
        FAIL(node->task(), " has ended: ", node->wait());
  }
  // With a new session. A word that was mangled may have made the two lose each other, which they
  // have to learn first.
  void check_computes() {
    Status status;
    for (int attempt = 0; attempt < 20; ++attempt) {
      auto session = open(worker_port);
      status = session.status();
      if (session.ok() && session->extend(make_graph()).ok())
        status = compute(*session);
      if (status.ok())
        return check_alive();
    }
    FAIL(status.to_string());
  }
};

// Says all of it to the port, and waits until the node has closed the connection.
void say(std::uint16_t port, const std::vector<std::string>& frames) {
  Socket socket;
  REQUIRE(socket.connect(port));
  for (const std::string& frame : frames)
    if (!socket.send(frame))
      break;
  ::shutdown(socket.fd, SHUT_WR);
  char answers[64 * 1024];
  while (::recv(socket.fd, answers, sizeof answers, 0) > 0) {
  }
}

// A recorded conversation, held by somebody else.
std::vector<std::string> in_the_name_of(std::string_view recorded, Mutator& random) {
  REQUIRE(recorded.size() >= header_bytes + identity_bytes);
  std::string own(recorded.substr(header_bytes, identity_bytes)), other = own;
  for (std::size_t i = 12; i < identity_bytes; ++i) // after the form and the process's number
    other[i] = static_cast<char>(random.pick(256));
  std::string out(recorded);
  for (auto at = out.find(own); at != out.npos; at = out.find(own, at + identity_bytes))
    out.replace(at, identity_bytes, other);
  return frames_of(out);
}

} // namespace

TEST_CASE("port: mutated conversations of a client and of a peer end no node and leave nothing") {
  Nodes nodes;
  auto before = taken();
  {
    auto session = open(nodes.to_worker.port);
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
    REQUIRE(session->extend(make_graph()).ok());
    REQUIRE(compute(*session).ok());
    // The session stays open: its actors are there for what the mutants say to them.
    const std::string client = nodes.to_worker.recorded(), peer = nodes.to_ps.recorded();
    REQUIRE(frames_of(client).size() > 5);
    REQUIRE(frames_of(peer).size() > 5);
    Mutator random(20261123);
    for (int i = 0, count = mutations(200); i < count; ++i) {
      CAPTURE(i);
      bool is_client = i % 2 == 0;
      auto frames = in_the_name_of(is_client ? client : peer, random);
      for (std::size_t n = 1 + random.pick(2); n > 0; --n)
        random.mutate(frames);
      say(is_client ? nodes.worker_port : nodes.ps_port, frames);
      nodes.check_alive();
      if (i % 20 == 19)
        nodes.check_computes();
    }
  }
  nodes.check_alive();
  check_given_back(before);
}

TEST_CASE("port: what is mangled on its way, there or back, ends no node and leaves nothing") {
  Nodes nodes;
  auto before = taken();
  Mutator random(20261124);
  for (int i = 0, count = mutations(60) / 10; i < count; ++i) {
    CAPTURE(i);
    Relay& relay = i % 2 == 0 ? nodes.to_worker : nodes.to_ps;
    relay.mangle_after(static_cast<int>(random.pick(i % 2 == 0 ? 40 : 20)), random.pick(1u << 30));
    if (auto session = open(nodes.to_worker.port, 1'000); session.ok())
      if (session->extend(make_graph()).ok())
        (void)compute(*session); // whatever comes of it: an answer, right or not
    relay.mangle_after(-1, 0);
    nodes.check_alive();
  }
  nodes.check_computes();
  check_given_back(before);
}

TEST_CASE("port: a process opens 300 sessions one after the other, and its first one lives") {
  Cluster cluster;
  std::uint16_t port = free_port();
  REQUIRE(cluster.add("worker", 0, Address{"127.0.0.1", port}).ok());
  auto node = start(options_of(cluster, "worker", port));
  Scope root = Scope::root();
  ops::neg(root.named("y"), Tensor::scalar(2.0f));
  auto first = open(port);
  REQUIRE(first.ok());
  REQUIRE(first->extend(root).ok());
  for (int i = 0; i < 300; ++i) {
    auto session = open(port);
    REQUIRE_MESSAGE(session.ok(), session.status().to_string());
  }
  auto result = first->run({}, {"y"});
  REQUIRE_MESSAGE(result.ok(), result.status().to_string());
  CHECK(result->at(0).value<float>() == -2);
}

TEST_CASE("port: a task of another cluster is refused, and a healthy session goes on") {
  std::uint16_t ps_port = free_port(), worker_port = free_port(), stray_port = free_port();
  Cluster cluster, other;
  REQUIRE(cluster.add("ps", 0, Address{"127.0.0.1", ps_port}).ok());
  REQUIRE(cluster.add("worker", 0, Address{"127.0.0.1", worker_port}).ok());
  REQUIRE(other.add("ps", 0, Address{"127.0.0.1", ps_port}).ok());
  REQUIRE(other.add("worker", 0, Address{"127.0.0.1", stray_port}).ok());
  other.set_name("elsewhere");
  auto ps = start(options_of(cluster, "ps", ps_port));
  auto worker = start(options_of(cluster, "worker", worker_port));
  auto session = open(worker_port);
  REQUIRE(session.ok());
  REQUIRE(session->extend(make_graph()).ok());
  REQUIRE(compute(*session).ok());
  // It calls itself by the name of a task that the ps knows, and dials the ps.
  auto stray = start(options_of(other, "worker", stray_port));
  auto refused = open(stray_port);
  CHECK(refused.status().code() == Code::failed_precondition);
  const std::string& why = refused.status().message();
  CHECK_MESSAGE(why.find("cluster 'elsewhere' (2 tasks") != std::string::npos, why);
  CHECK_MESSAGE(why.find("a cluster without a name (2 tasks") != std::string::npos, why);
  CHECK_MESSAGE(why.find("same config file") != std::string::npos, why);
  Status status = compute(*session);
  CHECK_MESSAGE(status.ok(), status.to_string());
}

} // namespace troupe::port_test
