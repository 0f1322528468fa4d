#include "net/data/internal/unasked_tensors.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe::data {

namespace {

Status dropped() {
  return aborted("a tensor that was sent unasked is no longer here: its step has ended, or nobody "
                 "wanted it for too long");
}

} // namespace

void UnaskedTensors::forget(std::uint64_t ticket) {
  if (forgotten_.size() == most_forgotten)
    forgotten_.pop_front();
  forgotten_.push_back(ticket);
}

UnaskedTensors::Effect UnaskedTensors::hand_over(Map::iterator at) {
  Tensor tensor = std::move(at->second);
  tensors_.erase(at);
  held_ -= tensor.bytes;
  Result<BufferRef> result = std::move(tensor.into);
  if (!tensor.status.ok())
    result = tensor.status;
  else if (tensor.wanted != tensor.bytes)
    result =
        out_of_range(str_cat(tensor.wanted, " bytes were wanted of a tensor of ", tensor.bytes));
  Effect out;
  out.is_done = true;
  out.answer = Answer{std::move(tensor.done), std::move(result),
                      std::max<std::int64_t>(tensor.whole_us - tensor.since_us, 1)};
  return out;
}

UnaskedTensors::Effect UnaskedTensors::claim(std::uint64_t ticket, std::uint64_t bytes,
                                             Claimed done, std::int64_t now_us) {
  Effect out;
  if (auto gone = std::find(forgotten_.begin(), forgotten_.end(), ticket);
      gone != forgotten_.end()) {
    forgotten_.erase(gone);
    out.answer = Answer{std::move(done), dropped(), 0};
    return out;
  }
  auto [at, is_new] = tensors_.try_emplace(ticket);
  Tensor& tensor = at->second;
  if (tensor.done) {
    out.answer = Answer{std::move(done), already_exists("a tensor was claimed twice"), 0};
    return out;
  }
  tensor.wanted = bytes;
  tensor.done = std::move(done);
  if (is_new) {
    tensor.since_us = now_us;
    ++owed_;
  }
  return tensor.is_whole ? hand_over(at) : out;
}

UnaskedTensors::Effect UnaskedTensors::announced(std::uint64_t ticket, std::uint64_t bytes,
                                                 const Allocate& allocate, std::int64_t now_us) {
  Effect out;
  auto [at, is_new] = tensors_.try_emplace(ticket);
  Tensor& tensor = at->second;
  owed_ += is_new ? 1 : 0;
  if (tensor.is_announced || bytes == 0 || bytes > lent_ - held_) {
    out.is_wrong = true;
    return out;
  }
  tensor.is_announced = true;
  tensor.bytes = bytes;
  tensor.since_us = now_us;
  held_ += bytes;
  auto memory = allocate(bytes);
  if (memory.ok())
    tensor.into = *std::move(memory);
  else
    tensor.status = memory.status();
  return out;
}

std::optional<std::byte*> UnaskedTensors::piece(std::uint64_t ticket, std::uint64_t bytes,
                                                bool is_last) {
  auto at = tensors_.find(ticket);
  if (at == tensors_.end() || !at->second.is_announced)
    return std::nullopt;
  Tensor& tensor = at->second;
  if (bytes == 0 || bytes > tensor.bytes - tensor.arrived ||
      is_last != (tensor.arrived + bytes == tensor.bytes))
    return std::nullopt;
  std::byte* to =
      tensor.into ? static_cast<std::byte*>(tensor.into->data()) + tensor.arrived : nullptr;
  tensor.arrived += bytes;
  return to;
}

UnaskedTensors::Effect UnaskedTensors::whole(std::uint64_t ticket, std::int64_t now_us) {
  auto at = tensors_.find(ticket);
  if (at == tensors_.end())
    return {};
  Tensor& tensor = at->second;
  tensor.is_whole = true;
  tensor.whole_us = now_us;
  --owed_;
  const std::uint64_t bytes = tensor.bytes;
  Effect out = tensor.done ? hand_over(at) : Effect{};
  out.bytes = bytes;
  return out;
}

UnaskedTensors::Effect UnaskedTensors::taken_back(std::uint64_t ticket, const Status& why,
                                                  std::int64_t now_us) {
  Effect out;
  out.is_done = true; // a second time does no harm
  auto at = tensors_.find(ticket);
  if (at == tensors_.end()) {
    // Claimed before, or about to be.
    forget(ticket);
    return out;
  }
  Tensor tensor = std::move(at->second);
  tensors_.erase(at);
  held_ -= tensor.bytes;
  owed_ -= tensor.is_whole ? 0 : 1;
  out.is_broken_off = tensor.is_announced && !tensor.is_whole;
  if (tensor.done)
    out.answer = Answer{std::move(tensor.done), why, now_us - tensor.since_us};
  else
    forget(ticket);
  return out;
}

std::vector<std::uint64_t> UnaskedTensors::drop_unclaimed(std::int64_t oldest_us) {
  std::vector<std::uint64_t> out;
  for (auto at = tensors_.begin(); at != tensors_.end();) {
    if (!at->second.is_whole || at->second.whole_us > oldest_us) {
      ++at;
      continue;
    }
    out.push_back(at->first);
    forget(at->first);
    held_ -= at->second.bytes;
    at = tensors_.erase(at);
  }
  return out;
}

std::size_t UnaskedTensors::num_coming() const {
  return static_cast<std::size_t>(
      std::count_if(tensors_.begin(), tensors_.end(), [](const auto& entry) {
        return entry.second.is_announced && !entry.second.is_whole;
      }));
}

std::vector<UnaskedTensors::Claimed> UnaskedTensors::end() {
  std::vector<Claimed> out;
  for (auto& [ticket, tensor] : tensors_)
    if (tensor.done)
      out.push_back(std::move(tensor.done));
  tensors_.clear();
  held_ = owed_ = 0;
  return out;
}

} // namespace troupe::data
