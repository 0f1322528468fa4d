// OrderChecker: what the double knows of memory and of the order of work, by vector clocks. Not for
// two threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe::testing {

/// For each stream, how much of its work has come before.
using Clock = std::vector<std::uint64_t>;
void merge(Clock& into, const Clock& from);

class OrderChecker {
public:
  /// A new stream's number.
  std::size_t add_stream();
  /// Work begins to be enqueued on the stream: what follows is done by it.
  void next(std::size_t stream, std::string what);
  /// What comes before work that is enqueued on the stream from now on.
  const Clock& clock_of(std::size_t stream) const { return clocks_[stream]; }
  /// The stream waits for what the clock says.
  void wait(std::size_t stream, const Clock& clock) { merge(clocks_[stream], clock); }
  /// The host has waited for it, so whatever it enqueues later comes after.
  void host_waited(const Clock& clock) { merge(host_, clock); }

  /// By the work that `next` named. `memory` of `bytes` is there from now on, or given back.
  void allocated(const void* memory, std::size_t bytes);
  /// False if it is no block that is there.
  bool freed(const void* memory);
  /// bytes 0: not known, some of the memory behind the pointer. False if there is no such memory.
  bool reads(const void* memory, std::size_t bytes = 0) { return touch(memory, bytes, false); }
  bool writes(const void* memory, std::size_t bytes = 0) { return touch(memory, bytes, true); }

  void report(std::string problem) { problems_.push_back(std::move(problem)); }
  const std::vector<std::string>& problems() const { return problems_; }

private:
  struct Access {
    std::size_t stream = 0;
    std::uint64_t time = 0;
    std::string what;
  };
  struct Block {
    std::size_t bytes = 0;
    bool is_free = false;
    Access written;
    std::map<std::size_t, Access> read; ///< by stream, since it was written
  };
  bool touch(const void* memory, std::size_t bytes, bool is_written);
  bool comes_before(const Access& access) const;
  Block* find(const void* memory, std::size_t bytes,
              const char* does); ///< null, and a problem: none

  std::vector<Clock> clocks_;
  Clock host_;
  std::size_t stream_ = 0;
  std::string what_;
  std::map<const char*, Block> blocks_;
  std::vector<std::string> problems_;
};

} // namespace troupe::testing
