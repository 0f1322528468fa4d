// RecordEpochs: the records of TFRecord files in random order, each once in every epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "core/base/function_view.hpp"
#include "core/tensor/buffer.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/records/records.hpp"

namespace troupe::io {

/// An epoch shuffles the files, reads some of them in turn into a buffer, and gives a random record
/// of the buffer as soon as that is full or the files are over. The next epoch begins when the
/// buffer is empty. Any thread; one reads at a time.
class RecordEpochs {
public:
  struct Spec {
    std::string patterns; ///< of file names, with commas between them
    std::int64_t seed = 0;
    float shift = 0;              ///< in [0, 1): which share of the shuffled files goes to the end
    std::int64_t buffer_size = 1; ///< records
    std::int64_t parallelism = 1; ///< files that are read in turn; no more than 64 are
    Compression compression = Compression::none;
  };
  /// `memory` outlives it; what the buffer holds is charged to it.
  RecordEpochs(Spec spec, std::shared_ptr<AllowedFiles> files, Allocator& memory);
  ~RecordEpochs();
  RecordEpochs(const RecordEpochs&) = delete;

  /// `count` records. `go_on` is asked between records; its failure ends the reading, and loses
  /// none. After another error what is in the buffer stays, and the next epoch begins behind it.
  /// NOT_FOUND "Found no files at …"; INVALID_ARGUMENT "Can't open …"; OUT_OF_RANGE for files
  /// without records; DATA_LOSS; RESOURCE_EXHAUSTED.
  Result<std::vector<std::string>> take(std::int64_t count, FunctionView<Status()> go_on);

private:
  struct Held {
    std::string text;
    std::size_t charged = 0; ///< bytes
  };
  Status fill(FunctionView<Status()> go_on);
  Status begin_epoch();
  Status read_one();
  Status open_files();
  Held take_one();
  void end_epoch();

  const Spec spec_;
  const std::shared_ptr<AllowedFiles> files_;
  Allocator& memory_;

  std::mutex lock_; // of what follows
  std::mt19937_64 random_;
  std::uint64_t epoch_ = 0;
  bool is_under_way_ = false;
  std::vector<std::string> names_; ///< of files that are not open yet, the next one last
  std::vector<std::unique_ptr<RecordReader>> open_; ///< read in turn
  std::size_t turn_ = 0;
  std::vector<Held> buffer_;
};

} // namespace troupe::io
