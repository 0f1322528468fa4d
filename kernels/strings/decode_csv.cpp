// DecodeCSV: lines of fields between separators, as RFC 4180 has them, one tensor for each column.
#include "kernels/framework/op_library.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::strings_decode_csv {
namespace {

struct Csv {
  char delimiter = ',';
  bool has_quotes = true;
  std::string not_given;
  std::vector<std::int64_t> columns; ///< empty: all
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Csv out;
  TROUPE_ASSIGN(const std::string delimiter, c.attr<std::string>("field_delim"));
  TROUPE_ASSIGN(out.has_quotes, c.attr<bool>("use_quote_delim"));
  TROUPE_ASSIGN(out.not_given, c.attr<std::string>("na_value"));
  if (auto columns = c.attr<std::vector<std::int64_t>>("select_cols"); columns.ok())
    out.columns = *columns;
  if (!out.columns.empty() && static_cast<int>(out.columns.size()) != c.num_outputs())
    return invalid_argument("select_cols should match output size");
  for (std::size_t i = 1; i < out.columns.size(); ++i)
    if (out.columns[i - 1] >= out.columns[i])
      return invalid_argument("select_cols should be strictly increasing indices");
  if (!out.columns.empty() && out.columns[0] < 0)
    return invalid_argument("select_cols should be non-negative indices");
  if (delimiter.size() != 1)
    return invalid_argument("field_delim should be only 1 char");
  out.delimiter = delimiter[0];
  return prepared(std::move(out));
}

/// The fields of one record that are wanted.
class Fields {
public:
  Fields(const Csv& csv, std::string_view record) : csv_(csv), rest_(record) {}

  Result<std::vector<std::string>> read() {
    bool ends_with_delimiter = false;
    while (!rest_.empty()) {
      if (is_line_end(rest_[0])) {
        rest_.remove_prefix(1);
        continue;
      }
      const bool quoted = csv_.has_quotes && rest_[0] == '"';
      std::string field;
      TROUPE_TRY(quoted ? read_quoted(field) : read_plain(field));
      ends_with_delimiter = !rest_.empty();
      if (ends_with_delimiter)
        rest_.remove_prefix(1);
      add(std::move(field));
      if (has_all())
        return std::move(fields_);
    }
    if (ends_with_delimiter)
      add("");
    return std::move(fields_);
  }

private:
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }
  bool has_all() const { return !csv_.columns.empty() && fields_.size() == csv_.columns.size(); }
  void add(std::string field) {
    if (csv_.columns.empty() || (!has_all() && csv_.columns[fields_.size()] == number_))
      fields_.push_back(std::move(field));
    ++number_;
  }

  Status read_plain(std::string& field) {
    while (!rest_.empty() && rest_[0] != csv_.delimiter) {
      if (is_line_end(rest_[0]) || (csv_.has_quotes && rest_[0] == '"'))
        return invalid_argument("Unquoted fields cannot have quotes/CRLFs inside");
      field += rest_[0];
      rest_.remove_prefix(1);
    }
    return {};
  }

  /// Ends before the delimiter or at the end.
  Status read_quoted(std::string& field) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (rest_[0] != '"') {
        field += rest_[0];
        rest_.remove_prefix(1);
      } else if (rest_.size() == 1 || rest_[1] == csv_.delimiter) {
        rest_.remove_prefix(1);
        return {};
      } else if (rest_[1] == '"') {
        field += '"';
        rest_.remove_prefix(2);
      } else {
        return invalid_argument("Quote inside a string has to be escaped by another quote");
      }
    }
    return invalid_argument("Quoted field has to end with quote followed by delim or end");
  }

  const Csv& csv_;
  std::string_view rest_;
  std::int64_t number_ = 0;
  std::vector<std::string> fields_;
};

template <class T>
Status put(const std::string& field, bool is_missing, const Tensor& fallback, Tensor& out,
           std::size_t column, std::size_t record) {
  T& to = out.mutable_data<T>()[record];
  if (is_missing) {
    if (fallback.num_elements() != 1)
      return invalid_argument(
          str_cat("Field ", column, " is required but missing in record ", record, "!"));
    to = fallback.data<T>()[0];
    return {};
  }
  if constexpr (std::is_same_v<T, std::string>) {
    to = field;
  } else {
    const auto number = strings::parse_number<T>(field);
    if (!number)
      return invalid_argument(str_cat("Field ", column, " in record ", record, " is not a valid ",
                                      to_string(dtype_of<T>), ": ", field));
    to = *number;
  }
  return {};
}

Status check_defaults(const KernelContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    if (c.input(i).shape().rank() > 1)
      return invalid_argument("Each record default should be at most rank 1");
    if (c.input(i).num_elements() > 1)
      return invalid_argument(str_cat("There should only be 1 default per field but field ", i - 1,
                                      " has ", c.input(i).num_elements()));
  }
  return {};
}

Status compute(KernelContext& c) {
  const auto& csv = c.prepared<Csv>();
  TROUPE_TRY(check_defaults(c));
  const auto records = c.input(0).data<std::string>();
  std::vector<Tensor> outputs;
  for (int i = 0; i < c.num_outputs(); ++i) {
    TROUPE_ASSIGN(Tensor out, c.allocate_output(i, c.input(0).shape()));
    outputs.push_back(std::move(out));
  }
  for (std::size_t record = 0; record < records.size(); ++record) {
    TROUPE_ASSIGN(const auto fields, Fields(csv, records[record]).read());
    if (fields.size() != outputs.size())
      return invalid_argument(str_cat("Expect ", outputs.size(), " fields but have ", fields.size(),
                                      " in record ", record));
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const bool is_missing = fields[f].empty() || fields[f] == csv.not_given;
      TROUPE_TRY(dispatch(Types<float, double, std::int32_t, std::int64_t, std::string>{},
                          outputs[f].dtype(), [&]<class T>() {
                            return put<T>(fields[f], is_missing, c.input(static_cast<int>(f) + 1),
                                          outputs[f], f, record);
                          }));
    }
  }
  return {};
}

Status infer_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_TRY(c.require_rank_at_most(i, 1));
    if (c.input(i).rank() == 1 && c.input(i).dim(0) > 1)
      return invalid_argument("Shape of a default must be a length-0 or length-1 vector, or a "
                              "scalar.");
  }
  for (int i = 0; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.output_like(i, 0));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DecodeCSV")
      .input("records: string; record_defaults: OUT_TYPE")
      .output("output: OUT_TYPE")
      .attr(
          "OUT_TYPE: list({float, double, int32, int64, string}) >= 1; field_delim: string = ','; "
          "use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []")
      .shape_fn(infer_shape)
      .not_differentiable("its input is text")
      .cpu_kernel(compute, {.prepare = prepare})
      .doc("The columns of records of fields between `field_delim`; an empty field is its column's "
           "default.");
}

} // namespace troupe::strings_decode_csv
