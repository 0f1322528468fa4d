#include "kernels/data/internal/elements.hpp"

namespace troupe::data {

Status Charge::add(std::size_t bytes) {
  if (!account_->charge(bytes))
    return resource_exhausted(
        str_cat("there is no room for the elements that an iterator holds: ", account_->refusal()));
  bytes_ += bytes;
  return {};
}

void Elements::save(StateWriter to) const {
  to.put("size", static_cast<std::int64_t>(all_.size()));
  for (std::size_t i = 0; i < all_.size(); ++i)
    to.put_all(str_cat(i), all_[i]);
}

Status Elements::restore(StateReader from) {
  clear();
  TROUPE_ASSIGN(const std::size_t size, from.count("size"));
  for (std::size_t i = 0; i < size; ++i) {
    TROUPE_ASSIGN(Element element, from.all(str_cat(i)));
    TROUPE_TRY(push(std::move(element)));
  }
  return {};
}

} // namespace troupe::data
