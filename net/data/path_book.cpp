#include "net/data/path_book.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

void PathRecord::begin(std::int64_t now_us) {
  std::scoped_lock guard(lock_);
  if (under_way_++ == 0)
    since_us_ = now_us;
}

void PathRecord::end(std::int64_t now_us, std::uint64_t bytes, bool arrived) {
  std::scoped_lock guard(lock_);
  if (--under_way_ == 0)
    busy_us_ += now_us - since_us_;
  if (arrived) {
    ++tensors_;
    bytes_ += bytes;
  } else {
    ++failed_;
  }
}

void PathRecord::set_path(TensorPath path, std::string remark) {
  std::scoped_lock guard(lock_);
  has_path_ = true;
  path_ = path;
  remark_ = std::move(remark);
}

std::string PathRecord::sentence() const {
  std::scoped_lock guard(lock_);
  if (!has_path_ && tensors_ == 0 && under_way_ == 0 && failed_ == 0)
    return "";
  std::string out = str_cat(to_string(path_), remark_.empty() ? "" : str_cat(" (", remark_, ")"),
                            ", ", tensors_, " tensors, ", format_bytes(bytes_));
  if (std::string rate = format_rate(bytes_, busy_us_); !rate.empty() && bytes_ > 0)
    out += str_cat(", ", rate);
  if (under_way_ > 0)
    out += str_cat(", ", under_way_, " under way");
  if (failed_ > 0)
    out += str_cat(", ", failed_, " failed");
  return out;
}

std::shared_ptr<PathRecord> PathBook::record(Direction direction, const std::string& peer) {
  std::scoped_lock guard(lock_);
  auto& slot = records_[{peer, direction}];
  if (!slot)
    slot = std::make_shared<PathRecord>();
  return slot;
}

std::int64_t PathBook::silent_us(const std::string& peer, std::int64_t now_us) const {
  std::scoped_lock guard(lock_);
  std::int64_t last = 0;
  for (Direction direction : {Direction::from, Direction::to})
    if (auto it = records_.find({peer, direction}); it != records_.end())
      last = std::max(last, it->second->last_us());
  return last == 0 ? -1 : now_us - last;
}

std::vector<std::string> PathBook::sentences() const {
  std::scoped_lock guard(lock_);
  std::vector<std::string> out;
  for (const auto& [key, record] : records_)
    if (std::string text = record->sentence(); !text.empty())
      out.push_back(
          str_cat(key.second == Direction::from ? "from " : "to ", key.first, ": ", text));
  return out;
}

} // namespace troupe
