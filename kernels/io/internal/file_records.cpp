#include "kernels/io/internal/file_records.hpp"

#include "core/base/strings.hpp"
#include "storage/records/records.hpp"

namespace troupe::io {
namespace {

using Got = FileRecords::Got;

class Identity final : public FileRecords {
public:
  explicit Identity(std::string file) : file_(std::move(file)) {}
  Result<Got> next(Record& record, Room) override {
    record = {file_, file_};
    return Got{.record = true, .end = true};
  }

private:
  std::string file_;
};

class WholeFile final : public FileRecords {
public:
  WholeFile(std::string file, OpenBytes open) : file_(std::move(file)), open_(std::move(open)) {}
  Result<Got> next(Record& record, Room room) override {
    TROUPE_ASSIGN(auto file, open_(file_));
    record.key = file_;
    record.value.clear();
    TROUPE_TRY(room(static_cast<std::size_t>(file->size())));
    record.value.resize(static_cast<std::size_t>(file->size()));
    TROUPE_TRY(file->read(0, std::as_writable_bytes(std::span(record.value))));
    return Got{.record = true, .end = true};
  }

private:
  std::string file_;
  OpenBytes open_;
};

/// Readers of a file's bytes in their order cannot go on after an error: it stays.
class InOrder : public FileRecords {
public:
  explicit InOrder(std::string file) : file_(std::move(file)) {}
  Result<Got> next(Record& record, Room room) final {
    TROUPE_TRY(failed_);
    Result<Got> got = read(record, room);
    failed_ = got.status();
    return got;
  }

protected:
  virtual Result<Got> read(Record& record, Room room) = 0;
  std::string key(std::uint64_t place) const { return str_cat(file_, ":", place); }

private:
  std::string file_;
  Status failed_;
};

class Lines final : public InOrder {
public:
  Lines(std::string file, std::unique_ptr<ByteSource> bytes, std::int64_t skipped)
      : InOrder(std::move(file)), lines_(std::move(bytes)), skipped_(skipped) {}

protected:
  Result<Got> read(Record& record, Room room) override {
    for (; skipped_ > 0; --skipped_) {
      TROUPE_ASSIGN(const bool more, lines_.next(record.value, room));
      if (!more)
        return Got{.end = true};
      ++line_;
    }
    TROUPE_ASSIGN(const bool more, lines_.next(record.value, room));
    if (!more)
      return Got{.end = true};
    record.key = key(++line_);
    return Got{.record = true};
  }

private:
  LineReader lines_;
  std::int64_t skipped_; ///< lines that are still to be passed over
  std::uint64_t line_ = 0;
};

class TFRecords final : public InOrder {
public:
  TFRecords(std::string file, std::unique_ptr<ByteSource> bytes)
      : InOrder(std::move(file)), records_(std::move(bytes)) {}

protected:
  Result<Got> read(Record& record, Room room) override {
    record.key = key(records_.offset());
    TROUPE_ASSIGN(const bool more, records_.next(record.value, room));
    return Got{.record = more, .end = !more};
  }

private:
  RecordReader records_;
};

class FixedLength final : public InOrder {
public:
  FixedLength(std::string file, std::unique_ptr<ByteSource> bytes, FixedLengths lengths)
      : InOrder(std::move(file)), bytes_(std::move(bytes)),
        record_(static_cast<std::uint64_t>(lengths.record)),
        window_(record_ + static_cast<std::uint64_t>(lengths.footer)),
        hop_(lengths.hop == 0 ? record_ : static_cast<std::uint64_t>(lengths.hop)) {}

protected:
  // A record counts only if the footer could follow it: both are in the window that hops along the
  // file.
  Result<Got> read(Record& record, Room room) override {
    if (number_ > 0) {
      const auto dropped = std::min<std::uint64_t>(hop_, seen_.size());
      seen_.erase(0, static_cast<std::size_t>(dropped));
      TROUPE_ASSIGN(const std::uint64_t skipped, bytes_->skip(hop_ - dropped));
      if (skipped < hop_ - dropped)
        return Got{.end = true};
    }
    if (seen_.size() < window_) {
      const std::uint64_t wanted = window_ - seen_.size();
      TROUPE_ASSIGN(const std::uint64_t got, append_bytes(*bytes_, wanted, seen_, room));
      if (got < wanted)
        return Got{.end = true};
    }
    TROUPE_TRY(room(static_cast<std::size_t>(record_)));
    record.value = seen_.substr(0, static_cast<std::size_t>(record_));
    record.key = key(number_++);
    return Got{.record = true};
  }

private:
  std::unique_ptr<ByteSource> bytes_;
  const std::uint64_t record_, window_, hop_;
  std::string seen_; ///< of the window
  std::uint64_t number_ = 0;
};

template <class T>
Result<std::unique_ptr<FileRecords>> opened(std::unique_ptr<T> records) {
  return std::unique_ptr<FileRecords>(std::move(records));
}

} // namespace

OpenRecords identity_records() {
  return [](const std::string& file) { return opened(std::make_unique<Identity>(file)); };
}

OpenRecords whole_file_records(OpenBytes open) {
  return [open = std::move(open)](const std::string& file) {
    return opened(std::make_unique<WholeFile>(file, open));
  };
}

OpenRecords line_records(OpenBytes open, std::int64_t skipped) {
  return [open = std::move(open),
          skipped](const std::string& file) -> Result<std::unique_ptr<FileRecords>> {
    TROUPE_ASSIGN(auto bytes, open(file));
    return opened(std::make_unique<Lines>(file, read_in_order(std::move(bytes)), skipped));
  };
}

OpenRecords tf_records(OpenBytes open, Compression how) {
  return [open = std::move(open),
          how](const std::string& file) -> Result<std::unique_ptr<FileRecords>> {
    TROUPE_ASSIGN(auto bytes, open(file));
    return opened(std::make_unique<TFRecords>(file, read_in_order(std::move(bytes), how)));
  };
}

OpenRecords fixed_length_records(OpenBytes open, FixedLengths lengths, Compression how) {
  return [open = std::move(open), lengths,
          how](const std::string& file) -> Result<std::unique_ptr<FileRecords>> {
    TROUPE_ASSIGN(auto opened_bytes, open(file));
    auto bytes = read_in_order(std::move(opened_bytes), how);
    const auto header = static_cast<std::uint64_t>(lengths.header);
    TROUPE_ASSIGN(const std::uint64_t skipped, bytes->skip(header));
    if (skipped < header)
      return out_of_range("reached end of file");
    return opened(std::make_unique<FixedLength>(file, std::move(bytes), lengths));
  };
}

} // namespace troupe::io
