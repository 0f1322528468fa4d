#include "storage/files/testing/simulated_disk.hpp"

#include <cstring>

#include "core/base/strings.hpp"

namespace troupe::testing {
namespace {

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

Status none(const std::string& path) {
  return not_found(str_cat("there is no '", path, "'"));
}

} // namespace

template <class Effect>
Status SimulatedDisk::call(Effect effect) {
  const bool fails = ++calls_ == fails_at_;
  if (fails && !with_effect_)
    return unavailable("the disk was told to fail");
  TROUPE_TRY(effect());
  return fails ? unavailable("the disk was told to fail") : Status{};
}

class SimulatedFile final : public File {
public:
  SimulatedFile(SimulatedDisk& disk, std::shared_ptr<SimulatedDisk::Node> node)
      : disk_(disk), node_(std::move(node)), life_(disk.life_) {}

  Status append(std::span<const std::byte> bytes) override {
    return disk_.call([&]() -> Status {
      TROUPE_TRY(check());
      TROUPE_TRY(disk_.take_room());
      node_->content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    });
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> out) override {
    std::size_t count = 0;
    TROUPE_TRY(disk_.call([&]() -> Status {
      TROUPE_TRY(check());
      if (offset < node_->content.size())
        count = std::min<std::size_t>(out.size(), node_->content.size() - offset);
      std::memcpy(out.data(), node_->content.data() + (count ? offset : 0), count);
      return {};
    }));
    return count;
  }
  Result<std::uint64_t> size() override {
    TROUPE_TRY(disk_.call([&] { return check(); }));
    return std::uint64_t{node_->content.size()};
  }
  Status sync() override {
    return disk_.call([&]() -> Status {
      TROUPE_TRY(check());
      TROUPE_TRY(disk_.take_room());
      node_->synced = node_->content.size();
      return {};
    });
  }

private:
  Status check() const {
    return life_ == disk_.life_ ? Status{} : unavailable("the machine ended meanwhile");
  }
  SimulatedDisk& disk_;
  std::shared_ptr<SimulatedDisk::Node> node_;
  int life_;
};

Status SimulatedDisk::take_room() {
  if (room_ == 0 || room_ == 1) {
    room_ = 0;
    return Status(Code::resource_exhausted, "no room is left on the disk");
  }
  room_ -= room_ > 0;
  return {};
}

void SimulatedDisk::fail_at(int number, bool with_effect) {
  calls_ = 0;
  fails_at_ = number;
  with_effect_ = with_effect;
}

void SimulatedDisk::crash(int kept, bool keeps_names) {
  ++life_;
  fails_at_ = 0;
  if (keeps_names) {
    durable_ = now_;
    durable_folders_ = folders_;
  }
  for (auto& [path, node] : durable_) {
    auto after = std::make_shared<Node>(*node);
    after->content.resize(after->synced + (after->content.size() - after->synced) *
                                              static_cast<std::size_t>(kept) / 4);
    after->synced = after->content.size();
    node = std::move(after);
  }
  now_ = durable_;
  folders_ = durable_folders_;
}

std::set<std::string> SimulatedDisk::paths() const {
  std::set<std::string> out;
  for (const auto& [path, node] : now_)
    out.insert(path);
  return out;
}

Result<std::unique_ptr<File>> SimulatedDisk::open(const std::string& path) {
  std::unique_ptr<File> out;
  TROUPE_TRY(call([&]() -> Status {
    auto found = now_.find(path);
    if (found == now_.end())
      return none(path);
    out = std::make_unique<SimulatedFile>(*this, found->second);
    return {};
  }));
  return Result<std::unique_ptr<File>>(std::move(out));
}

Result<std::unique_ptr<File>> SimulatedDisk::create(const std::string& path) {
  std::unique_ptr<File> out;
  TROUPE_TRY(call([&]() -> Status {
    if (!folders_.contains(folder_of(path)))
      return none(folder_of(path));
    auto [entry, is_new] = now_.try_emplace(path, std::make_shared<Node>());
    if (!is_new)
      return already_exists(str_cat("'", path, "' is there"));
    out = std::make_unique<SimulatedFile>(*this, entry->second);
    return {};
  }));
  return Result<std::unique_ptr<File>>(std::move(out));
}

Result<std::unique_ptr<File>> SimulatedDisk::open_to_append(const std::string& path) {
  auto out = open(path);
  return out.status().code() == Code::not_found ? create(path) : std::move(out);
}

Status SimulatedDisk::rename(const std::string& from, const std::string& to) {
  return call([&]() -> Status {
    auto node = now_.extract(from);
    if (node.empty())
      return none(from);
    now_[to] = std::move(node.mapped());
    return {};
  });
}

Status SimulatedDisk::remove(const std::string& path) {
  return call([&] { return now_.erase(path) ? Status{} : none(path); });
}

Status SimulatedDisk::sync_folder(const std::string& path) {
  return call([&]() -> Status {
    if (!folders_.contains(path))
      return none(path);
    std::erase_if(durable_, [&](const auto& entry) { return folder_of(entry.first) == path; });
    for (const auto& [file, node] : now_)
      if (folder_of(file) == path)
        durable_[file] = node;
    for (const std::string& folder : folders_)
      if (folder_of(folder) == path)
        durable_folders_.insert(folder);
    return {};
  });
}

Status SimulatedDisk::make_folder(const std::string& path) {
  return call([&]() -> Status {
    if (!folders_.contains(folder_of(path)))
      return none(folder_of(path));
    folders_.insert(path);
    return {};
  });
}

Status SimulatedDisk::remove_folder(const std::string& path) {
  return call([&]() -> Status {
    for (const auto& [file, node] : now_)
      if (folder_of(file) == path)
        return failed_precondition(str_cat("'", path, "' is not empty"));
    return folders_.erase(path) ? Status{} : none(path);
  });
}

Result<std::vector<std::string>> SimulatedDisk::list_folders(const std::string& path) {
  std::vector<std::string> out;
  TROUPE_TRY(call([&]() -> Status {
    if (!folders_.contains(path))
      return none(path);
    for (const std::string& folder : folders_)
      if (folder_of(folder) == path)
        out.push_back(folder.substr(path.size() + 1));
    return {};
  }));
  return out;
}

Result<std::vector<std::string>> SimulatedDisk::list(const std::string& path) {
  std::vector<std::string> out;
  TROUPE_TRY(call([&]() -> Status {
    if (!folders_.contains(path))
      return none(path);
    for (const auto& [file, node] : now_)
      if (folder_of(file) == path)
        out.push_back(file.substr(path.size() + 1));
    return {};
  }));
  return out;
}

} // namespace troupe::testing
