#include "kernels/lookup/internal/vocabulary.hpp"

#include "core/base/strings.hpp"
#include "storage/streams/byte_source.hpp"

namespace troupe::lookup {
namespace {

/// The next line of a file, which is no longer than there is memory for.
class Lines {
public:
  static Result<Lines> open(KernelContext& c, AllowedFiles& files, const std::string& name) {
    TROUPE_ASSIGN(auto file, files.open(name));
    return Lines(c, name, LineReader(read_in_order(std::move(file))));
  }
  Result<bool> next(std::string& line) {
    constexpr std::int64_t between_looks = 1024;
    if (number_++ % between_looks == 0)
      context_->stop_if_cancelled();
    Allocator& account = context_->device().host_side_allocator();
    return reader_.next(line, [&](std::size_t bytes) -> Status {
      if (!account.charge(bytes + line.size()))
        return resource_exhausted(str_cat("allocator '", account.name(),
                                          "' has no room for a line ", "of '", *name_,
                                          "': ", account.refusal()));
      account.discharge(bytes + line.size());
      return {};
    });
  }
  std::uint64_t position() const { return reader_.position(); }

private:
  Lines(KernelContext& c, const std::string& name, LineReader reader)
      : context_(&c), name_(&name), reader_(std::move(reader)) {}
  KernelContext* context_;
  const std::string* name_;
  LineReader reader_;
  std::int64_t number_ = 0;
};

Status no_lines(std::string_view name) {
  return out_of_range(str_cat("'", name, "' has no lines: Read less bytes than requested"));
}

} // namespace

Result<std::int64_t> count_lines(KernelContext& c, AllowedFiles& files, const std::string& name,
                                 std::int64_t most) {
  TROUPE_ASSIGN(Lines lines, Lines::open(c, files, name));
  std::string line;
  std::int64_t count = 0;
  while (most == all_lines || count < most) {
    TROUPE_ASSIGN(const bool more, lines.next(line));
    if (!more)
      break;
    ++count;
  }
  return count;
}

Status for_each_line(KernelContext& c, AllowedFiles& files, const std::string& name,
                     std::int64_t wanted,
                     FunctionView<Status(std::int64_t number, std::string_view line)> visit) {
  TROUPE_ASSIGN(Lines lines, Lines::open(c, files, name));
  std::string line;
  std::int64_t count = 0;
  if (wanted == 0) {
    TROUPE_ASSIGN(const bool more, lines.next(line));
    return more ? out_of_range(str_cat("Finished reading 0 of lines from ", name)) : no_lines(name);
  }
  for (; wanted == all_lines || count < wanted; ++count) {
    TROUPE_ASSIGN(const bool more, lines.next(line));
    if (!more)
      break;
    if (line.empty())
      return invalid_argument(str_cat("Invalid content in ", name,
                                      ": empty line found at position ", lines.position(), "."));
    TROUPE_TRY(visit(count, line));
  }
  if (wanted != all_lines && count < wanted)
    return invalid_argument(
        str_cat("Invalid vocab_size in ", name, ": expected ", wanted, " but got ", count));
  if (wanted == all_lines && count == 0)
    return no_lines(name);
  return {};
}

} // namespace troupe::lookup
