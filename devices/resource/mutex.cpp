#include "devices/resource/mutex.hpp"
#include "core/base/strings.hpp"

namespace troupe {

Mutex::Lock::~Lock() {
  mutex_->locked([&] { mutex_->is_locked_ = false; });
}

Result<VariantParts> Mutex::Lock::parts() const {
  return unimplemented(str_cat("the lock of mutex '", mutex_->name_,
                               "' cannot leave its process: place what uses it beside the mutex"));
}

void Mutex::acquire(const std::shared_ptr<Mutex>& mutex, Ticket ticket, Done done) {
  // The mutex must not hold itself: a waiting request lives as long as somebody else holds it.
  auto attempt = [weak = std::weak_ptr<Mutex>(mutex)]() -> std::optional<Result<Tensors>> {
    const std::shared_ptr<Mutex> self = weak.lock();
    if (!self || self->is_locked_)
      return {};
    self->is_locked_ = true;
    Variant lock;
    lock.type_name = "tensorflow::SharedPtrVariant";
    lock.value = std::make_shared<Lock>(self);
    return Tensors{Tensor::scalar(std::move(lock))};
  };
  mutex->submit(ticket, 0, std::move(attempt), std::move(done));
}

bool Mutex::is_locked() const {
  return read([&] { return is_locked_; });
}

std::string Mutex::description() const {
  return str_cat("mutex '", name_, "', ", is_locked() ? "locked" : "free");
}

} // namespace troupe
