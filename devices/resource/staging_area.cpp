#include "devices/resource/staging_area.hpp"
#include "core/base/strings.hpp"

namespace troupe {

std::size_t bytes_of(const std::vector<Tensor>& tuple) {
  std::size_t out = 0;
  for (const Tensor& tensor : tuple)
    out += tensor.has_value() ? tensor.byte_size() : 0;
  return out;
}

Status check_fits(std::size_t bytes, const StagingLimits& limits) {
  if (limits.bytes == 0 || bytes <= limits.bytes)
    return {};
  return resource_exhausted(str_cat("Attempted to insert tensors with combined size of '", bytes,
                                    "' bytes into Staging Area with a memory limit of '",
                                    limits.bytes, "'."));
}

Status check_staged(const std::vector<Tensor>& tuple, const std::vector<DType>& types) {
  if (tuple.size() != types.size())
    return invalid_argument(
        str_cat("Mismatch stage/unstage: ", tuple.size(), " vs. ", types.size()));
  for (std::size_t i = 0; i < types.size(); ++i)
    if (tuple[i].dtype() != types[i])
      return invalid_argument(str_cat("Mismatch stage/unstage: component ", i, " is of ",
                                      to_string(tuple[i].dtype()), ", not of ",
                                      to_string(types[i])));
  return {};
}

namespace {

constexpr int puts = 0, takes = 1;

} // namespace

void StagingArea::put(Ticket ticket, Tensors tuple, Done done) {
  const std::size_t size = bytes_of(tuple);
  if (Status status = check_fits(size, limits_); !status.ok())
    return done(std::move(status));
  auto attempt = [this, size,
                  tuple = std::move(tuple)]() mutable -> std::optional<Result<Tensors>> {
    if (limits_.elements > 0 && static_cast<std::int64_t>(tuples_.size()) >= limits_.elements)
      return {};
    if (limits_.bytes > 0 && bytes_ + size > limits_.bytes)
      return {};
    bytes_ += size;
    tuples_.push_back(std::move(tuple));
    return Tensors();
  };
  submit(ticket, puts, std::move(attempt), std::move(done));
}

void StagingArea::take(Ticket ticket, std::vector<DType> types, Done done) {
  auto attempt = [this, types = std::move(types)]() -> std::optional<Result<Tensors>> {
    if (tuples_.empty())
      return {};
    if (Status status = check_staged(tuples_.front(), types); !status.ok())
      return status;
    Tensors out = std::move(tuples_.front());
    tuples_.pop_front();
    bytes_ -= bytes_of(out);
    return out;
  };
  submit(ticket, takes, std::move(attempt), std::move(done));
}

void StagingArea::peek(Ticket ticket, std::int64_t index, std::vector<DType> types, Done done) {
  auto attempt = [this, index, types = std::move(types)]() -> std::optional<Result<Tensors>> {
    if (index >= static_cast<std::int64_t>(tuples_.size()))
      return {};
    const Tensors& tuple = tuples_[static_cast<std::size_t>(index)];
    if (Status status = check_staged(tuple, types); !status.ok())
      return status;
    return tuple;
  };
  submit(ticket, no_lane, std::move(attempt), std::move(done));
}

std::int64_t StagingArea::size() const {
  return read([&] { return static_cast<std::int64_t>(tuples_.size()); });
}

void StagingArea::clear() {
  std::deque<Tensors> gone; // destroyed outside the lock
  locked([&] {
    gone.swap(tuples_);
    bytes_ = 0;
  });
}

std::string StagingArea::description() const {
  return str_cat("staging area of ", size(), " tuples");
}

std::size_t StagingArea::bytes() const {
  return read([&] { return bytes_; });
}

} // namespace troupe
