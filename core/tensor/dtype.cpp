#include "core/tensor/dtype.hpp"

#include <array>

#include "core/base/strings.hpp"

namespace troupe {

namespace {

struct Row {
  DType dtype;
  std::size_t size;
  std::string_view literal;
  std::string_view name;     // TensorFlow's, in op signatures
  std::string_view constant; // of the DataType enum, without DT_
};

// Names that differ from the enumerator's own.
constexpr std::string_view name_of(std::string_view enumerator) {
  if (enumerator == "float32")
    return "float";
  if (enumerator == "float64")
    return "double";
  if (enumerator == "float16")
    return "half";
  if (enumerator == "bool_")
    return "bool";
  return enumerator;
}

constexpr Row rows[] = {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  Row{DType::name, size, #literal, name_of(#name), #name},
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
};

const Row* find(DType t) {
  static const auto table = [] {
    std::array<const Row*, 100> out{};
    for (const Row& row : rows)
      out[static_cast<std::size_t>(row.dtype)] = &row;
    return out;
  }();
  int number = static_cast<int>(remove_ref(t));
  return number > 0 && number < 100 ? table[static_cast<std::size_t>(number)] : nullptr;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i]))
      return false;
  return true;
}

} // namespace

std::size_t dtype_size(DType t) {
  const Row* row = find(t);
  return row ? row->size : 0;
}

bool is_known(DType t) {
  return find(t) != nullptr;
}

bool is_integer(DType t) {
  switch (remove_ref(t)) {
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

std::string to_string(DType t) {
  if (t == DType::invalid)
    return "invalid";
  const Row* row = find(t);
  if (!row)
    return str_cat("dtype(", static_cast<int>(t), ")");
  return str_cat(row->name, is_ref(t) ? "_ref" : "");
}

std::string_view literal_name(DType t) {
  const Row* row = find(t);
  return row ? row->literal : "invalid";
}

std::optional<DType> parse_dtype(std::string_view name) {
  if (name.starts_with("DT_"))
    name.remove_prefix(3);
  bool ref = name.ends_with("_ref") || name.ends_with("_REF");
  if (ref)
    name.remove_suffix(4);
  for (const Row& row : rows)
    if (equal_ignoring_case(name, row.name) || name == row.literal ||
        equal_ignoring_case(name, row.constant))
      return ref ? make_ref(row.dtype) : row.dtype;
  return std::nullopt;
}

} // namespace troupe
