#include "core/base/line_writer.hpp"

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/strings.hpp"

using namespace troupe;
using std::chrono::milliseconds;

namespace {

/// A pipe of one page, so that few lines fill it.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
  }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  void close_reader() { close_end(ends[0]); }
  void close_writer() { close_end(ends[1]); }
  /// Leaves no room for a byte.
  void fill() {
    std::string page(4096, '.');
    page.back() = '\n';
    REQUIRE(::write(ends[1], page.data(), page.size()) == 4096);
  }
  std::string read(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      ssize_t n = ::read(ends[0], out.data() + got, bytes - got);
      if (n <= 0)
        break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }

private:
  static void close_end(int& fd) {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
};

/// Puts another descriptor in the place of standard error, and takes from the process all that are
/// not in use.
class StandardErrorAlone {
public:
  explicit StandardErrorAlone(int in_its_place) : before_(::dup(STDERR_FILENO)) {
    REQUIRE(before_ >= 0);
    REQUIRE(::dup2(in_its_place, STDERR_FILENO) == STDERR_FILENO);
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit_) == 0);
    const int first_free = ::dup(in_its_place);
    REQUIRE(::close(first_free) == 0);
    const rlimit none{static_cast<rlim_t>(first_free), limit_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    // Whoever started the test, or the thread of an earlier writer, may have left lower ones free.
    for (int fd = ::dup(in_its_place); fd >= 0; fd = ::dup(in_its_place))
      fillers_.push_back(fd);
  }
  ~StandardErrorAlone() {
    for (int fd : fillers_)
      ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &limit_);
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }

private:
  int before_;
  rlimit limit_{};
  std::vector<int> fillers_;
};

constexpr milliseconds long_enough{60000}; // only reached when something hangs

} // namespace

TEST_CASE("line writer: a line that fits is written at once") {
  Pipe pipe;
  LineWriter writer(pipe.ends[1]);
  writer.write("hello\n");
  CHECK(writer.flush(milliseconds(0)));
  CHECK(pipe.read(6) == "hello\n");
  CHECK(writer.num_dropped() == 0);
}

TEST_CASE("line writer: a full pipe holds nobody up, and what was queued comes in order") {
  Pipe pipe;
  pipe.fill();
  LineWriter writer(pipe.ends[1]);
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    std::string line = str_cat("line ", i, "\n");
    writer.write(line);
    expected += line;
  }
  CHECK_FALSE(writer.flush(milliseconds(0)));
  CHECK(writer.num_dropped() == 0);
  pipe.read(4096);
  CHECK(pipe.read(expected.size()) == expected);
  CHECK(writer.flush(long_enough));
}

TEST_CASE("line writer: lines beyond its capacity are dropped, counted, and told of") {
  Pipe pipe;
  pipe.fill();
  LineWriter writer(pipe.ends[1], 100);
  std::string line(49, 'x');
  line += '\n';
  for (int i = 0; i < 10; ++i)
    writer.write(line);
  CHECK(writer.num_dropped() == 8);
  pipe.read(4096);
  CHECK(pipe.read(100) == line + line);
  REQUIRE(writer.flush(long_enough));
  writer.write("after\n");
  std::string note = "(lines dropped here because nobody read: 8)\nafter\n";
  CHECK(pipe.read(note.size()) == note);
  writer.write("quiet\n");
  CHECK(pipe.read(6) == "quiet\n");
  CHECK(writer.num_dropped() == 8);
}

TEST_CASE("line writer: a line longer than the pipe is not torn by the next") {
  Pipe pipe;
  LineWriter writer(pipe.ends[1]);
  std::string longer(10000, 'y');
  longer += '\n';
  writer.write(longer);
  writer.write("next\n");
  CHECK(pipe.read(longer.size() + 5) == longer + "next\n");
}

TEST_CASE("line writer: a closed pipe drops and counts") {
  auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  LineWriter writer(pipe.ends[1]);
  pipe.close_reader();
  writer.write("one\ntwo\n");
  CHECK(writer.flush(long_enough));
  CHECK(writer.num_dropped() == 2);
  std::signal(SIGPIPE, before);
}

TEST_CASE("line writer: a file gets its lines, which may take a thread") {
  char name[] = "/tmp/troupe-line-writer-XXXXXX";
  int fd = ::mkstemp(name);
  REQUIRE(fd >= 0);
  ::unlink(name);
  LineWriter writer(fd);
  writer.write("one\n");
  writer.write("two\n");
  CHECK(writer.flush(long_enough));
  char bytes[16] = {};
  CHECK(::pread(fd, bytes, sizeof bytes, 0) == 8);
  CHECK(std::string(bytes) == "one\ntwo\n");
  ::close(fd);
}

TEST_CASE(
    "line writer: standard error is written to when no descriptor is left for its duplicate") {
  Pipe pipe;
  {
    StandardErrorAlone alone(pipe.ends[1]);
    REQUIRE(::dup(pipe.ends[1]) < 0);
    LineWriter writer(STDERR_FILENO);
    writer.write("none left\n");
    CHECK(writer.num_dropped() == 0);
  }
  CHECK(::fcntl(STDERR_FILENO, F_GETFD) >= 0); // it is not the writer's to close
  CHECK(pipe.read(10) == "none left\n");
}

TEST_CASE("line writer: one that is gone while its thread is stuck waits for nobody") {
  Pipe pipe;
  pipe.fill();
  {
    LineWriter writer(pipe.ends[1]);
    writer.write("never read\n");
  }
  pipe.close_reader();
}

TEST_CASE("line writer: many threads, whole lines") {
  Pipe pipe;
  LineWriter writer(pipe.ends[1]);
  constexpr int threads = 4, each = 500;
  std::string line(63, 'z');
  line += '\n';
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&] {
      for (int i = 0; i < each; ++i)
        writer.write(line);
    });
  std::string all = pipe.read(line.size() * threads * each);
  for (std::thread& thread : pool)
    thread.join();
  bool whole = all.size() == line.size() * threads * each;
  for (std::size_t at = 0; at < all.size(); at += line.size())
    whole &= all.compare(at, line.size(), line) == 0;
  CHECK(whole);
}
