#include "kernels/io/internal/record_epochs.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/strings.hpp"

namespace troupe::io {
namespace {

constexpr std::size_t most_files = 1'000'000, most_open = 64;

} // namespace

RecordEpochs::RecordEpochs(Spec spec, std::shared_ptr<AllowedFiles> files, Allocator& memory)
    : spec_(std::move(spec)), files_(std::move(files)), memory_(memory),
      random_(static_cast<std::uint64_t>(spec_.seed)) {}

RecordEpochs::~RecordEpochs() {
  for (const Held& held : buffer_)
    memory_.discharge(held.charged);
}

Result<std::vector<std::string>> RecordEpochs::take(std::int64_t count,
                                                    FunctionView<Status()> go_on) {
  std::scoped_lock guard(lock_);
  std::vector<Held> taken;
  Status status;
  while (status.ok() && std::ssize(taken) < count) {
    status = fill(go_on);
    if (status.ok())
      taken.push_back(take_one());
  }
  if (!status.ok()) {
    std::ranges::move(taken, std::back_inserter(buffer_));
    return status;
  }
  std::vector<std::string> out;
  out.reserve(taken.size());
  for (Held& held : taken) {
    memory_.discharge(held.charged);
    out.push_back(std::move(held.text));
  }
  return out;
}

// The buffer holds something when this is over.
Status RecordEpochs::fill(FunctionView<Status()> go_on) {
  bool has_begun = false;
  for (;;) {
    if (!is_under_way_ && buffer_.empty()) {
      if (has_begun)
        return out_of_range(str_cat("the files at ", spec_.patterns, " have no records"));
      TROUPE_TRY(begin_epoch());
      has_begun = true;
    }
    while (is_under_way_ && std::ssize(buffer_) < spec_.buffer_size) {
      TROUPE_TRY(go_on());
      if (Status status = read_one(); !status.ok()) {
        end_epoch();
        return status;
      }
    }
    if (!buffer_.empty())
      return {};
  }
}

Status RecordEpochs::begin_epoch() {
  ++epoch_;
  names_.clear();
  for (std::string_view pattern : str_split(spec_.patterns, ',')) {
    TROUPE_ASSIGN(auto found, files_->match(pattern, most_files));
    names_.insert(names_.end(), std::make_move_iterator(found.begin()),
                  std::make_move_iterator(found.end()));
  }
  if (names_.empty())
    return not_found(str_cat("Found no files at ", spec_.patterns));
  std::seed_seq seeds{static_cast<std::uint32_t>(spec_.seed),
                      static_cast<std::uint32_t>(spec_.seed >> 32),
                      static_cast<std::uint32_t>(epoch_)};
  std::mt19937_64 of_epoch(seeds);
  std::ranges::shuffle(names_, of_epoch);
  if (spec_.shift >= 0 && spec_.shift < 1)
    std::ranges::rotate(
        names_, names_.begin() +
                    static_cast<std::ptrdiff_t>(spec_.shift * static_cast<float>(names_.size())));
  std::ranges::reverse(names_);
  is_under_way_ = true;
  return {};
}

Status RecordEpochs::open_files() {
  const std::size_t wanted = std::min<std::size_t>(
      most_open, static_cast<std::size_t>(std::max<std::int64_t>(spec_.parallelism, 1)));
  while (open_.size() < wanted && !names_.empty()) {
    const std::string name = std::move(names_.back());
    names_.pop_back();
    auto file = files_->open(name);
    if (!file.ok())
      return invalid_argument(str_cat("Can't open ", name, ": ", file.status().message()));
    open_.push_back(
        std::make_unique<RecordReader>(read_in_order(*std::move(file), spec_.compression)));
  }
  return {};
}

// One record, or the end of one file.
Status RecordEpochs::read_one() {
  TROUPE_TRY(open_files());
  if (open_.empty()) {
    end_epoch();
    return {};
  }
  turn_ = (turn_ + 1) % open_.size();
  Held held;
  const auto room = [&](std::size_t bytes) -> Status {
    if (!memory_.charge(bytes))
      return resource_exhausted(str_cat("allocator '", memory_.name(), "' has no room for ", bytes,
                                        " more bytes of a file's record: ", memory_.refusal()));
    held.charged += bytes;
    return {};
  };
  Status status = room(sizeof(Held));
  bool is_there = false;
  if (status.ok()) {
    auto got = open_[turn_]->next(held.text, room);
    status = got.status();
    is_there = got.ok() && *got;
  }
  if (is_there) {
    buffer_.push_back(std::move(held));
    return {};
  }
  memory_.discharge(held.charged);
  if (status.ok())
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
  return status;
}

RecordEpochs::Held RecordEpochs::take_one() {
  std::swap(buffer_[random_() % buffer_.size()], buffer_.back());
  Held out = std::move(buffer_.back());
  buffer_.pop_back();
  return out;
}

void RecordEpochs::end_epoch() {
  is_under_way_ = false;
  names_.clear();
  open_.clear();
}

} // namespace troupe::io
