// Mutex: who holds its lock, and who waits for it; the lock is given back when its holder forgets
// it.
#pragma once

#include <memory>
#include <string>

#include "core/tensor/variant.hpp"
#include "devices/resource/monitor.hpp"

namespace troupe {

class Mutex final : public Monitor {
public:
  explicit Mutex(std::string name) : name_(std::move(name)) {}

  /// The lock, which whoever holds the tensor with it has; it is of no use outside its process.
  class Lock final : public VariantValue {
  public:
    explicit Lock(std::shared_ptr<Mutex> mutex) : mutex_(std::move(mutex)) {}
    ~Lock() override;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    /// UNIMPLEMENTED.
    Result<VariantParts> parts() const override;

  private:
    std::shared_ptr<Mutex> mutex_;
  };

  /// Answers with a scalar variant that holds a Lock, once nobody else has one; in the order of the
  /// requests.
  static void acquire(const std::shared_ptr<Mutex>& mutex, Ticket ticket, Done done);
  bool is_locked() const;
  std::string description() const override;

private:
  const std::string name_;
  bool is_locked_ = false;
};

} // namespace troupe
