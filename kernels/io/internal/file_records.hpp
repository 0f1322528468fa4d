// FileRecords: what readers give of one file, record by record; and how each kind of reader cuts a
// file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/status.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe::io {

struct Record {
  std::string key, value;
};

/// One file that is being read. One thread at a time. What fails may be asked again, and fails
/// again.
class FileRecords {
public:
  virtual ~FileRecords() = default;
  struct Got {
    bool record = false; ///< there was one
    bool end = false;    ///< there is none behind it
  };
  virtual Result<Got> next(Record& record, Room room) = 0;
};

/// Begins to read a file, called as a graph calls it.
using OpenRecords = std::function<Result<std::unique_ptr<FileRecords>>(const std::string& file)>;
/// Opens a file's bytes.
using OpenBytes = std::function<Result<std::unique_ptr<StorageReader>>(const std::string& file)>;

/// The file's name is key and value; there need be no such file.
OpenRecords identity_records();
/// The file's content is the one value, its name the key.
OpenRecords whole_file_records(OpenBytes open);
/// Lines without their ends, with keys "FILE:LINE", the first line being 1; the first `skipped`
/// lines are none.
OpenRecords line_records(OpenBytes open, std::int64_t skipped);
/// TFRecord files, with keys "FILE:OFFSET".
OpenRecords tf_records(OpenBytes open, Compression how);

/// Records of one size, with keys "FILE:NUMBER", the first being 0.
struct FixedLengths {
  std::int64_t header = 0, record = 0, footer = 0; ///< bytes, none below 0
  std::int64_t hop = 0; ///< from one record's begin to the next one's; 0: as many as a record has
};
/// OUT_OF_RANGE "reached end of file" for a file that is shorter than its header.
OpenRecords fixed_length_records(OpenBytes open, FixedLengths lengths, Compression how);

} // namespace troupe::io
