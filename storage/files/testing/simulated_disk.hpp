// SimulatedDisk: a FileSystem in memory for tests. It fails any call that a test names, and ends as
// a machine may: what was not synced is lost, in whole or in part.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "storage/files/file_system.hpp"

namespace troupe::testing {

class SimulatedDisk final : public FileSystem {
public:
  /// Every call counts. The `number`-th from now on (the first is 1) fails, and has no effect, or,
  /// `with_effect`, all of it; 0: none fails.
  void fail_at(int number, bool with_effect = false);
  /// From the `number`-th append or sync on there is no room: RESOURCE_EXHAUSTED, without effect.
  void fill_at(int number) { room_ = number; }
  int calls() const { return calls_; } ///< since fail_at
  /// The machine ends and starts again. Of contents that were not synced `kept` parts of 4 stay;
  /// names that were not synced are forgotten or, with `keeps_names`, remembered. Files that are
  /// open stay readable by nobody: UNAVAILABLE.
  void crash(int kept, bool keeps_names);
  /// All files that there are, unfinished ones among them.
  std::set<std::string> paths() const;

  Result<std::unique_ptr<File>> open(const std::string& path) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Result<std::unique_ptr<File>> open_to_append(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Status make_folder(const std::string& path) override;
  Status remove_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<std::vector<std::string>> list_folders(const std::string& path) override;
  bool is_folder(const std::string& path) override { return folders_.contains(path); }
  Result<std::string> resolve(const std::string& path) override { return path; } // it has no links

private:
  friend class SimulatedFile;
  struct Node {
    std::string content;
    std::size_t synced = 0; ///< bytes of it
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  /// Runs the effect of a call, unless it is the one that fails without.
  template <class Effect>
  Status call(Effect effect);

  Status take_room();

  Names now_;
  Names durable_; ///< as of the last sync of each folder
  std::set<std::string> folders_{"/disk"};
  std::set<std::string> durable_folders_{"/disk"};
  int calls_ = 0, fails_at_ = 0, life_ = 0;
  int room_ = -1; ///< appends and syncs until the disk is full; negative: without end
  bool with_effect_ = false;
};

} // namespace troupe::testing
