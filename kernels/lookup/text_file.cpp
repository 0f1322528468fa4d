// InitializeTableFromTextFile: fills a table with an entry for each line of a file. A key or a
// value is the line's number, the line, or one of its columns.
#include "core/base/strings.hpp"
#include "kernels/framework/files.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/lookup/internal/initializable.hpp"
#include "kernels/lookup/internal/vocabulary.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::lookup_text_file {
namespace {

using lookup::all_lines;
constexpr std::int64_t line_number = -1, whole_line = -2;

struct Kept {
  std::int64_t key = 0, value = 0; ///< columns, or one of the above
  std::int64_t lines = all_lines;
  char delimiter = '\t';
  std::int64_t offset = 0; ///< added to lines' numbers
  bool has_columns() const { return std::max(key, value) >= 0; }
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Kept kept;
  TROUPE_ASSIGN(kept.key, c.attr<std::int64_t>("key_index"));
  TROUPE_ASSIGN(kept.value, c.attr<std::int64_t>("value_index"));
  TROUPE_ASSIGN(kept.lines, c.attr<std::int64_t>("vocab_size"));
  kept.offset = c.attrs().get_or("offset", std::int64_t{0});
  TROUPE_ASSIGN(const auto delimiter, c.attr<std::string>("delimiter"));
  if (delimiter.size() != 1)
    return invalid_argument("delimiter should be only 1 char");
  kept.delimiter = delimiter[0];
  return prepared(kept);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(1, 0));
  return {};
}

bool holds_lines(DType dtype) {
  switch (dtype) {
  case DType::string:
  case DType::int8:
  case DType::int16:
  case DType::int32:
  case DType::int64:
  case DType::uint8:
  case DType::uint16:
  case DType::uint32:
  case DType::uint64:
    return true;
  default:
    return false;
  }
}

Status check_dtypes(const Kept& kept, const LookupTable::Spec& spec) {
  if (kept.key == line_number && spec.key != DType::int64)
    return invalid_argument(str_cat("Key index for line number requires table key dtype of int64, "
                                    "got ",
                                    to_string(spec.key)));
  if (kept.key == whole_line && !holds_lines(spec.key))
    return invalid_argument(str_cat("Key index for whole line requires string or integer table "
                                    "key, got ",
                                    to_string(spec.key)));
  if (kept.value == line_number && spec.value != DType::int64)
    return invalid_argument(str_cat("Value index for line number requires table value dtype of "
                                    "int64, got ",
                                    to_string(spec.value)));
  if (kept.value == whole_line && !holds_lines(spec.value))
    return invalid_argument(str_cat("Value index for whole line requires table value dtype of "
                                    "integer or string, got ",
                                    to_string(spec.value)));
  return {};
}

/// Keys or values, one for each line.
class Column {
public:
  Column(std::int64_t index, DType dtype, const Kept& kept) : index_(index), kept_(kept) {
    dtype_ = dtype;
  }
  Status begin(Allocator& memory, std::int64_t lines) {
    TROUPE_ASSIGN(tensor_, Tensor::allocate(memory, dtype_, Shape{lines}));
    return {};
  }

  Status add(std::int64_t line, std::string_view text,
             const std::vector<std::string_view>& columns) {
    const auto at = static_cast<std::size_t>(line);
    if (index_ == line_number) {
      tensor_.mutable_data<std::int64_t>()[at] = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(line) + static_cast<std::uint64_t>(kept_.offset));
      return {};
    }
    const std::string_view token =
        index_ == whole_line ? text : columns[static_cast<std::size_t>(index_)];
    if (dtype_ == DType::string) {
      TROUPE_TRY(tensor_.charge(token.size()));
      tensor_.mutable_data<std::string>()[at] = token;
      return {};
    }
    if (dtype_ != DType::int32 && dtype_ != DType::int64 && dtype_ != DType::float32 &&
        dtype_ != DType::float64)
      return invalid_argument(str_cat("Data type ", to_string(dtype_), " not supported."));
    return dispatch(
        Types<std::int32_t, std::int64_t, float, double>{}, dtype_, [&]<class T>() -> Status {
          const auto number = strings::parse_number<T>(token);
          if (!number)
            return invalid_argument(str_cat("Field ", token, " in line ", line, " is not a valid ",
                                            to_string(dtype_), "."));
          tensor_.mutable_data<T>()[at] = *number;
          // So TensorFlow has it, of this dtype alone.
          if constexpr (std::is_same_v<T, std::int32_t>)
            tensor_.mutable_data<T>()[at] = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(*number) + static_cast<std::uint32_t>(kept_.offset));
          return {};
        });
  }
  Tensor& tensor() { return tensor_; }

private:
  std::int64_t index_;
  DType dtype_ = DType::invalid;
  const Kept& kept_;
  Tensor tensor_;
};

Status fill(KernelContext& c, const Kept& kept, AllowedFiles& files, const std::string& name,
            Column& keys, Column& values, std::int64_t count) {
  TROUPE_TRY(keys.begin(c.device().host_side_allocator(), count));
  TROUPE_TRY(values.begin(c.device().host_side_allocator(), count));
  const auto add = [&](std::int64_t i, std::string_view line) -> Status {
    std::vector<std::string_view> columns;
    if (kept.has_columns()) {
      columns = str_split(line, kept.delimiter);
      const std::int64_t needed = std::max(kept.key, kept.value) + 1;
      if (std::ssize(columns) < needed)
        return invalid_argument(str_cat("Invalid number of columns in ", name, " line ", i, " (",
                                        line, ") : expected at least ", needed, " got ",
                                        columns.size()));
    }
    TROUPE_TRY(keys.add(i, line, columns));
    return values.add(i, line, columns);
  };
  return lookup::for_each_line(c, files, name, count, add);
}

Status initialize(KernelContext& c) {
  TROUPE_ASSIGN(auto table, lookup::initializable_table(c));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument(
        str_cat("filename should be a single string, but got ", c.input(1).shape()));
  const auto& name = c.input(1).value<std::string>();
  if (name.empty())
    return invalid_argument("filename cannot be empty.");
  const auto& kept = c.prepared<Kept>();
  TROUPE_TRY(check_dtypes(kept, table->spec()));
  TROUPE_ASSIGN(AllowedFiles * files, troupe::files(c));
  TROUPE_ASSIGN(const std::int64_t count, lookup::count_lines(c, *files, name, kept.lines));
  if (count == 0) // TensorFlow looks for a line in any case
    return lookup::for_each_line(c, *files, name, kept.lines,
                                 [](std::int64_t, std::string_view) { return Status{}; });
  if (table->is_initialized()) // by another session, or an earlier step
    return {};
  if (kept.lines != all_lines && count < kept.lines)
    return invalid_argument(
        str_cat("Invalid vocab_size in ", name, ": expected ", kept.lines, " but got ", count));
  Column keys(kept.key, table->spec().key, kept), values(kept.value, table->spec().value, kept);
  TROUPE_TRY(fill(c, kept, *files, name, keys, values, count));
  const Status filled = table->initialize(keys.tensor(), values.tensor());
  return filled.code() == Code::failed_precondition && table->is_initialized() ? Status{} : filled;
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const bool v2 : {false, true}) {
    auto op = library.op(v2 ? "InitializeTableFromTextFileV2" : "InitializeTableFromTextFile");
    op.input(v2 ? "table_handle: resource" : "table_handle: Ref(string)")
        .input("filename: string")
        .attr("key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1")
        .attr("delimiter: string = '\t'; offset: int = 0")
        .roles({Role::side_effect})
        .shape_fn(infer)
        .not_differentiable("what a table holds has no gradient")
        .cpu_kernel(initialize, {.prepare = prepare, .expensive = true})
        .doc("Fills a HashTable with an entry for each line of a file, or for the first "
             "`vocab_size`. "
             "Keys and values are the lines (-2), their numbers (-1), or columns of them.");
    if (v2)
      op.stateful();
  }
}

} // namespace troupe::lookup_text_file
