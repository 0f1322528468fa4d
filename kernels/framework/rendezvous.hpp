// Rendezvous as kernels see it: the mailbox of a step, where the two halves of a cut edge meet. The
// actors implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/tensor/variable_memory.hpp"

namespace troupe {

/// "src_device;HEX16(src_incarnation);dst_device;edge_name;frame:iter" (TensorFlow's form).
std::string rendezvous_key(std::string_view src_device, std::uint64_t src_incarnation,
                           std::string_view dst_device, std::string_view edge, std::uint64_t frame,
                           std::int64_t iter);

struct ParsedKey {
  std::string_view src_device, dst_device, edge, frame_iter;
  std::uint64_t src_incarnation = 0;
};
/// Views into `key`. INVALID_ARGUMENT "Invalid rendezvous key: …".
Result<ParsedKey> parse_rendezvous_key(std::string_view key);

/// What travels along a cut edge: a value, or the news that it is dead.
struct EdgeValue {
  Tensor tensor;
  bool is_dead = false;
};

/// One per step and worker. Safe for any thread. Values under one key are handed out in the order
/// they were sent, once each.
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Never waits. Fails with the abort's status after an abort.
  virtual Status send(const std::string& key, EdgeValue value) = 0;
  /// `done` is called once, before return or later from any thread: with the value when it is
  /// there, with the abort's status otherwise.
  virtual void recv(const std::string& key, std::function<void(Result<EdgeValue>)> done) = 0;
  /// Host memory where `task` will look for a value of `bytes` bytes, so that sending it copies
  /// nothing; null when there is none. That task can write there too.
  virtual BufferRef memory_of(const std::string& task, std::uint64_t bytes) {
    (void)task, (void)bytes;
    return {};
  }
  /// Memory in which `task` reads a variable's value of `bytes` bytes where it lies; null when it
  /// cannot.
  virtual std::shared_ptr<VariableMemory> variable_memory(const std::string& task,
                                                          std::uint64_t bytes) {
    (void)task, (void)bytes;
    return nullptr;
  }
};

} // namespace troupe
