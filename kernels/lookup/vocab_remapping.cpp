// GenerateVocabRemapping: where the lines of a new vocabulary are in an old one.
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/lookup/internal/vocabulary.hpp"

namespace troupe::lookup_vocab_remapping {
namespace {

Status infer(ShapeContext& c) {
  for (int i : {0, 1})
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_ASSIGN(const auto number, c.attr<std::int64_t>("num_new_vocab"));
  TROUPE_TRY(c.set_output(0, PartialShape{number}));
  return c.set_output(1, Shape{});
}

Result<std::string> file_name(const KernelContext& c, int i) {
  const Tensor& name = c.input(i);
  if (!name.shape().is_scalar())
    return invalid_argument(str_cat(c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                                    " should be a single string, but got ", name.shape()));
  if (name.value<std::string>().empty())
    return invalid_argument(str_cat(i == 0 ? "new" : "old", " vocab filename cannot be empty."));
  return name.value<std::string>();
}

/// Numbers of lines by line. Its memory is counted.
class Vocabulary {
public:
  explicit Vocabulary(Allocator& account) : account_(account) {}
  Vocabulary(const Vocabulary&) = delete;
  ~Vocabulary() { account_.discharge(bytes_); }

  Status add(std::int64_t number, std::string_view line) {
    constexpr std::size_t node = 64; // about what the map takes beside the text
    if (!account_.charge(line.size() + node))
      return resource_exhausted(str_cat("allocator '", account_.name(),
                                        "' has no room for a vocabulary: ", account_.refusal()));
    bytes_ += line.size() + node;
    const auto [found, is_new] = lines_.emplace(line, number);
    if (is_new)
      return {};
    return failed_precondition(str_cat("HashTable has different value for same key. Key ", line,
                                       " has ", found->second, " and trying to add value ",
                                       number));
  }
  std::int64_t find(const std::string& line) const {
    const auto found = lines_.find(line);
    return found == lines_.end() ? -1 : found->second;
  }

private:
  Allocator& account_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, std::int64_t> lines_;
};

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const auto offset, c.attr<std::int64_t>("new_vocab_offset"));
  TROUPE_ASSIGN(const auto number, c.attr<std::int64_t>("num_new_vocab"));
  TROUPE_ASSIGN(const auto old_size, c.attr<std::int64_t>("old_vocab_size"));
  TROUPE_ASSIGN(const std::string new_name, file_name(c, 0));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  std::int64_t count = 0;
  TROUPE_TRY(lookup::for_each_line(c, *files, new_name, lookup::all_lines,
                                   [&](std::int64_t, std::string_view) {
                                     ++count;
                                     return Status{};
                                   }));
  if (offset > count || number > count - offset)
    return invalid_argument("lookup table size must be larger than last new vocab entry's line");
  TROUPE_ASSIGN(const std::string old_name, file_name(c, 1));
  Vocabulary old(c.device().host_side_allocator());
  TROUPE_TRY(lookup::for_each_line(
      c, *files, old_name, old_size,
      [&](std::int64_t i, std::string_view line) { return old.add(i, line); }));
  TROUPE_ASSIGN(Tensor remapping, c.allocate_output(0, Shape{number}));
  const auto to = remapping.mutable_data<std::int64_t>();
  std::int32_t present = 0;
  if (number > 0)
    TROUPE_TRY(lookup::for_each_line(c, *files, new_name, offset + number,
                                     [&](std::int64_t i, std::string_view line) -> Status {
                                       if (i < offset)
                                         return {};
                                       const std::int64_t found = old.find(std::string(line));
                                       to[static_cast<std::size_t>(i - offset)] = found;
                                       present += found >= 0 ? 1 : 0;
                                       return {};
                                     }));
  return c.set_output(1, Tensor::scalar(present));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("GenerateVocabRemapping")
      .input("new_vocab_file: string; old_vocab_file: string")
      .output("remapping: int64; num_present: int32")
      .attr("new_vocab_offset: int >= 0; num_new_vocab: int >= 0; old_vocab_size: int >= -1 = -1")
      .roles({Role::random})
      .shape_fn(infer)
      .not_differentiable("its inputs are names of files")
      .cpu_kernel(compute, {.expensive = true})
      .doc("For `num_new_vocab` lines of the new file, from `new_vocab_offset` on, their numbers "
           "in the "
           "old file, or -1; and how many are there.");
}

} // namespace troupe::lookup_vocab_remapping
