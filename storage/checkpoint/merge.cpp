#include "core/base/strings.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/checkpoint/internal/header.hpp"

namespace troupe {
namespace {

using Entries = std::map<std::string, CheckpointEntry, std::less<>>;

/// Slices of one tensor come from several checkpoints; everything else from one.
Status add(Entries& all, std::string_view key, CheckpointEntry entry, std::string_view prefix) {
  auto [found, is_new] = all.try_emplace(std::string(key), std::move(entry));
  if (is_new)
    return {};
  CheckpointEntry& there = found->second;
  if (there.slices.empty() || entry.slices.empty())
    return invalid_argument(
        str_cat("Duplicate tensor keyed by ", key, " encountered, when merging prefix: ", prefix));
  if (there.dtype != entry.dtype || there.shape != entry.shape)
    return invalid_argument(str_cat("the slices of '", key, "' in '", prefix, "' are of ",
                                    to_string(entry.dtype), " ", entry.shape,
                                    ", those of another checkpoint of ", to_string(there.dtype),
                                    " ", there.shape));
  there.slices.insert(there.slices.end(), entry.slices.begin(), entry.slices.end());
  return {};
}

} // namespace

Status merge_checkpoints(Storage& storage, std::span<const std::string> prefixes,
                         const std::string& to, bool allow_missing) {
  struct Move {
    std::string prefix;
    int shards;
  };
  std::vector<Move> moves;
  Entries all;
  int shards = 0;
  for (const std::string& prefix : prefixes) {
    auto reader = CheckpointReader::open(storage, prefix);
    if (reader.status().code() == Code::not_found) {
      if (allow_missing)
        continue;
      return invalid_argument(str_cat("allow_missing_files was set to false and ", prefix,
                                      " did not exist. ", reader.status().message()));
    }
    TROUPE_TRY(reader.status());
    TROUPE_TRY(
        reader->index().for_each([&](std::string_view key, std::string_view message) -> Status {
          if (key.empty())
            return {};
          TROUPE_ASSIGN(CheckpointEntry entry, CheckpointEntry::from_message(key, message));
          entry.shard += shards;
          return add(all, key, std::move(entry), prefix);
        }));
    moves.push_back({prefix, reader->shards()});
    shards += reader->shards();
  }
  if (moves.empty())
    return invalid_argument(str_cat("no checkpoint was found to make '", to, "' of"));
  TableWriter table;
  table.add("", checkpoint::header_message(shards));
  for (const auto& [key, entry] : all)
    table.add(key, entry.to_message());
  const std::string text = table.finish();
  TROUPE_ASSIGN(auto index, storage.write(checkpoint_index_name(to)));
  TROUPE_TRY(index->append(std::as_bytes(std::span(text))));
  TROUPE_TRY(index->prepare());
  int next = 0;
  for (const Move& move : moves)
    for (int shard = 0; shard < move.shards; ++shard)
      TROUPE_TRY(storage.rename(checkpoint_data_name(move.prefix, shard, move.shards),
                                checkpoint_data_name(to, next++, shards)));
  TROUPE_TRY(index->commit());
  for (const Move& move : moves)
    if (move.prefix != to)
      TROUPE_TRY(storage.remove(checkpoint_index_name(move.prefix)));
  return {};
}

} // namespace troupe
