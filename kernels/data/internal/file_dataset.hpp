// FileDataset: the texts that files consist of, file by file. Those who derive from it say how a
// file is cut.
#pragma once

#include <string>
#include <vector>

#include "kernels/data/internal/elements.hpp"
#include "kernels/data/internal/register.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe::data {

/// One file that is being read. One thread at a time.
class Texts {
public:
  virtual ~Texts() = default;
  /// False at the end of the file.
  virtual Result<bool> next(std::string& text, Room room) = 0;
};

class FileDataset : public Dataset {
public:
  FileDataset(const KernelContext& c, std::vector<std::string> files);
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override;
  virtual Result<std::unique_ptr<Texts>> open(AllowedFiles& files,
                                              const std::string& file) const = 0;
  const std::vector<std::string>& files() const { return files_; }

private:
  const std::vector<std::string> files_;
};

/// The names in input 0, a scalar or a vector.
Result<std::vector<std::string>> file_names(const KernelContext& c);

} // namespace troupe::data
