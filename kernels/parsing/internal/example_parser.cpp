// In three passes, of which the first and the last go over the examples in parallel. The first
// finds the features; numbers of a fixed shape go into their tensor at once, of the others it keeps
// where they are and how many they are. The second adds up, so that the tensors have their exact
// sizes before the last one fills them.
#include "kernels/parsing/internal/example_parser.hpp"

#include <algorithm>
#include <memory>

#include "core/base/strings.hpp"
#include "kernels/parsing/internal/feature.hpp"
#include "kernels/parsing/internal/feature_map.hpp"

namespace troupe::parsing {
namespace {

enum class Form : std::uint8_t { dense, sparse, ragged };

/// A feature of one example.
struct Cell {
  Feature feature;
  bool is_missing = true;
  std::int64_t values = 0; ///< how many it has; after the second pass, how many are before it
};

/// A wanted feature and its tensors.
struct Column {
  std::string_view key;
  DType dtype = DType::invalid;
  Form form = Form::dense;
  const DenseShape* shape = nullptr;   ///< of a dense one
  const Tensor* fallback = nullptr;    ///< of a dense one; for one of variable length its padding
  Tensor memory = {};                  ///< of the cells
  std::span<Cell> cells = {};          ///< empty: the numbers are in `values` after the first pass
  DType splits_dtype = DType::invalid; ///< of a ragged one
  std::int64_t total = 0, longest = 0;
  Tensor values = {}, indices = {}, splits = {};

  bool has_fixed_shape() const { return form == Form::dense && !shape->is_variable; }
  bool needs_cells() const { return !has_fixed_shape() || dtype == DType::string; }
  std::int64_t end_of(std::size_t example) const {
    return example + 1 < cells.size() ? cells[example + 1].values : total;
  }
};

std::size_t text_bytes(const Tensor& text) {
  std::size_t out = 0;
  for (const std::string& one : text.data<std::string>())
    out += one.size();
  return out;
}

class ExampleParser {
public:
  ExampleParser(ExampleHost& host, const ExampleInputs& inputs) : host_(host), inputs_(inputs) {}

  Status add_columns(const ExampleSpec& spec) {
    const auto add = [&](Form form, const std::vector<DType>& dtypes,
                         const std::vector<std::string_view>& keys) -> Status {
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        TROUPE_TRY(names_.add(keys[i]));
        columns_.push_back({.key = keys[i], .dtype = dtypes[i], .form = form});
        if (form == Form::dense) {
          columns_.back().shape = &spec.shapes[i];
          columns_.back().fallback = inputs_.defaults[i];
        }
        if (form == Form::ragged)
          columns_.back().splits_dtype = spec.ragged_splits[i];
      }
      return {};
    };
    sparse_ = static_cast<int>(spec.sparse.size());
    dense_ = static_cast<int>(spec.dense.size());
    ragged_ = static_cast<int>(spec.ragged.size());
    TROUPE_TRY(add(Form::sparse, spec.sparse, inputs_.sparse_keys));
    TROUPE_TRY(add(Form::dense, spec.dense, inputs_.dense_keys));
    return add(Form::ragged, spec.ragged, inputs_.ragged_keys);
  }

  Status run() {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      TROUPE_TRY(prepare(columns_[i], static_cast<int>(i)));
    TROUPE_TRY(over_examples([this](std::int64_t begin, std::int64_t end) { find(begin, end); }));
    bool has_cells = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      has_cells = has_cells || columns_[i].needs_cells();
      if (columns_[i].needs_cells())
        TROUPE_TRY(add_up(columns_[i], static_cast<int>(i)));
    }
    if (!has_cells)
      return {};
    return over_examples([this](std::int64_t begin, std::int64_t end) { fill(begin, end); });
  }

private:
  std::int64_t num_examples() const { return static_cast<std::int64_t>(inputs_.serialized.size()); }

  /// Runs `pass(begin, end)` over ranges of examples; the first refusal.
  template <class Pass>
  Status over_examples(Pass pass) {
    std::size_t bytes = 0;
    for (const std::string& one : inputs_.serialized)
      bytes += one.size();
    const double examples = static_cast<double>(std::max<std::int64_t>(1, num_examples()));
    const double cost =
        50 + 10 * static_cast<double>(columns_.size()) + static_cast<double>(bytes) / examples / 4;
    host_.for_ranges(num_examples(), cost, pass);
    return errors_.status();
  }

  // Before the first pass.

  Shape batch_shape(std::span<const std::int64_t> inner) const {
    std::vector<std::int64_t> dims;
    if (inputs_.is_batch)
      dims.push_back(num_examples());
    dims.insert(dims.end(), inner.begin(), inner.end());
    return Shape(dims);
  }

  /// As batch_shape, of numbers that may be too large. INVALID_ARGUMENT then.
  Result<Shape> checked_shape(std::vector<std::int64_t> dims) const {
    if (inputs_.is_batch)
      dims.insert(dims.begin(), num_examples());
    return Shape::make(dims);
  }

  /// Output of the tensor with a column's values; the place is the column's among all.
  int values_output(const Column& column, int place) const {
    if (column.form == Form::sparse)
      return sparse_ + place;
    return 2 * sparse_ + place; // dense ones come after three outputs of each sparse one
  }

  Status prepare(Column& column, int place) {
    if (column.has_fixed_shape()) {
      TROUPE_ASSIGN(const Shape shape, checked_shape(column.shape->shape.dims()));
      TROUPE_ASSIGN(column.values, host_.output(values_output(column, place), column.dtype, shape));
    }
    if (!column.needs_cells())
      return {};
    const auto count = static_cast<std::size_t>(num_examples());
    TROUPE_ASSIGN(const Shape bytes, Shape::make(std::vector<std::int64_t>{
                                         num_examples(), static_cast<std::int64_t>(sizeof(Cell))}));
    TROUPE_ASSIGN(column.memory, host_.temporary(DType::uint8, bytes));
    auto* cells = static_cast<Cell*>(column.memory.mutable_raw());
    std::uninitialized_default_construct_n(cells, count);
    column.cells = {cells, count};
    return {};
  }

  // The first pass.

  /// What was found of each column in one example.
  struct Found {
    Feature feature;
    bool is_missing = true;
  };

  void find(std::int64_t begin, std::int64_t end) {
    NameGuesser names(names_);
    std::vector<Found> found(columns_.size());
    for (std::int64_t e = begin; e < end && !errors_.is_before(e); ++e) {
      names.restart();
      std::fill(found.begin(), found.end(), Found{});
      Status status = find_features(e, names, found);
      for (std::size_t i = 0; i < columns_.size() && status.ok(); ++i)
        status = keep(columns_[i], found[i], e);
      if (!status.ok())
        return errors_.add(e, std::move(status));
    }
  }

  /// Of features of one name the last one counts, unless it has no kind.
  Status find_features(std::int64_t e, NameGuesser& names, std::vector<Found>& found) const {
    bool is_supported = true;
    const auto use = [&](std::string_view key, std::string_view message) {
      const int place = names.find(key);
      if (place == FeatureNames::unwanted)
        return true;
      const auto feature = Feature::read(message);
      is_supported = feature.has_value();
      if (!is_supported)
        return false;
      const auto i = static_cast<std::size_t>(place);
      if (feature->has_kind() || (inputs_.is_batch && columns_[i].form != Form::dense))
        found[i] = {*feature, false};
      return true;
    };
    const std::string& text = inputs_.serialized[static_cast<std::size_t>(e)];
    std::string_view features;
    for (WireCursor in(text); !in.at_end();) {
      const bool is_read = in.take_tag(block_tag(1))
                               ? in.take_cut_block(features) && for_each_entry(features, use)
                               : in.skip_field();
      if (!is_supported)
        return invalid_argument("Unsupported datatype.");
      if (!is_read)
        return invalid_argument(
            str_cat("Could not parse example input, value: '", excerpt(text), "'"));
    }
    return {};
  }

  Status keep(Column& column, const Found& found, std::int64_t e) {
    const Feature& feature = found.feature;
    if (feature.has_kind() && feature.dtype() != column.dtype)
      return wrong_kind(column, feature, e);
    if (column.has_fixed_shape() && found.is_missing && column.fallback->num_elements() == 0)
      return missing(column, e);
    if (!column.needs_cells())
      return column.dtype == DType::float32 ? put_fixed<float>(column, found, e)
                                            : put_fixed<std::int64_t>(column, found, e);
    Cell& cell = column.cells[static_cast<std::size_t>(e)];
    cell.feature = feature;
    cell.is_missing = found.is_missing;
    const auto count = feature.count();
    if (!count)
      return malformed(column, e);
    cell.values = *count;
    if (column.form == Form::dense && !found.is_missing)
      return check_count(column, *count, e);
    return {};
  }

  template <class T>
  Status put_fixed(Column& column, const Found& found, std::int64_t e) {
    const std::int64_t count = column.shape->row_elements;
    T* to = column.values.mutable_data<T>().data() + e * count;
    if (found.is_missing) {
      std::ranges::copy(column.fallback->data<T>(), to);
      return {};
    }
    if (found.feature.copy(to, count))
      return {};
    const auto present = found.feature.count();
    if (!present || *present == count)
      return malformed(column, e);
    return check_count(column, *present, e);
  }

  // Refusals.

  Status refusal(const Column& column, std::int64_t e, std::string_view what) const {
    if (!inputs_.is_batch)
      return invalid_argument(str_cat("Key: ", column.key, ".  ", what));
    return invalid_argument(
        str_cat("Name: ", name(e), ", Key: ", column.key, ", Index: ", e, ".  ", what));
  }

  std::string_view name(std::int64_t e) const {
    if (inputs_.names.empty())
      return "<unknown>";
    return inputs_.names[static_cast<std::size_t>(e)];
  }

  Status wrong_kind(const Column& column, const Feature& feature, std::int64_t e) const {
    const std::string is = to_string(feature.dtype()), expected = to_string(column.dtype);
    if (column.form == Form::dense)
      return refusal(
          column, e,
          str_cat("Data types don't match. Data type: ", is, " but expected type: ", expected));
    return refusal(
        column, e,
        str_cat("Data types don't match. Expected type: ", expected, ", Actual type: ", is));
  }

  Status missing(const Column& column, std::int64_t e) const {
    const std::string which = inputs_.is_batch ? str_cat("Name: ", name(e), ", ") : "";
    return invalid_argument(str_cat(which, "Feature: ", column.key,
                                    " (data type: ", to_string(column.dtype),
                                    ") is required but could not be found."));
  }

  Status malformed(const Column& column, std::int64_t e) const {
    if (inputs_.is_batch)
      return refusal(column, e, "Can't parse serialized Example.");
    if (column.dtype == DType::string && !column.has_fixed_shape())
      return refusal(column, e,
                     "Can't parse serialized Example: Could not get num elements in "
                     "bytes_list.");
    return refusal(column, e,
                   str_cat("Can't parse serialized Example: Parsing ", kind_name(column.dtype),
                           "_list failed."));
  }

  /// Of a dense column that has `count` values in the example.
  Status check_count(const Column& column, std::int64_t count, std::int64_t e) const {
    const DenseShape& dense = *column.shape;
    const std::int64_t row = dense.row_elements;
    if (dense.is_variable ? count % row == 0 : count == row)
      return {};
    const std::string_view kind = kind_name(column.dtype);
    if (!inputs_.is_batch && dense.is_variable)
      return invalid_argument(str_cat("Error while parsing feature with key ", column.key,
                                      ": number of elements should be divisible by ", row,
                                      ", found ", count, " instead"));
    if (dense.is_variable)
      return refusal(column, e,
                     str_cat("Number of ", kind, " values is not a multiple of stride length. Saw ",
                             count, " values but output shape is: ", dense.shape));
    if (column.dtype == DType::string && count > row)
      return malformed(column, e); // as TensorFlow says of too many texts
    if (!inputs_.is_batch)
      return refusal(
          column, e,
          str_cat("Can't parse serialized Example: Some ", kind, "_list slice was not parsed."));
    return refusal(column, e,
                   str_cat("Number of ", kind, " values != expected.  Values size: ", count,
                           " but output shape: ", dense.shape));
  }

  // The second pass.

  Status add_up(Column& column, int place) {
    std::size_t text = 0;
    std::int64_t missing = 0;
    for (Cell& cell : column.cells) {
      const std::int64_t count = cell.values;
      cell.values = column.total;
      column.total += count;
      column.longest = std::max(column.longest, count);
      text += cell.feature.bytes();
      missing += cell.is_missing;
    }
    const int output = values_output(column, place);
    if (column.form == Form::dense) {
      TROUPE_TRY(allocate_dense(column, output));
    } else {
      TROUPE_ASSIGN(column.values, host_.output(output, column.dtype, Shape{column.total}));
    }
    if (column.dtype == DType::string) {
      if (column.has_fixed_shape())
        text += static_cast<std::size_t>(missing) * text_bytes(*column.fallback);
      TROUPE_TRY(column.values.charge(text));
    }
    if (column.form == Form::sparse)
      return allocate_sparse(column, place);
    return column.form == Form::ragged ? allocate_splits(column, output + ragged_) : Status{};
  }

  Status allocate_dense(Column& column, int output) {
    if (column.has_fixed_shape())
      return {};
    const DenseShape& dense = *column.shape;
    std::vector<std::int64_t> dims = dense.shape.dims();
    dims[0] = column.longest / dense.row_elements;
    TROUPE_ASSIGN(const Shape shape, checked_shape(std::move(dims)));
    TROUPE_ASSIGN(column.values, host_.output(output, column.dtype, shape));
    if (column.dtype != DType::string || column.fallback->value<std::string>().empty())
      return {};
    const std::int64_t padding = shape.num_elements() - column.total;
    return column.values.charge(static_cast<std::size_t>(padding) * text_bytes(*column.fallback));
  }

  Status allocate_sparse(Column& column, int place) {
    const std::int64_t rank = inputs_.is_batch ? 2 : 1;
    TROUPE_ASSIGN(column.indices, host_.output(place, DType::int64, Shape{column.total, rank}));
    TROUPE_ASSIGN(Tensor shape, host_.output(2 * sparse_ + place, DType::int64, Shape{rank}));
    const auto dims = shape.mutable_data<std::int64_t>();
    dims[0] = num_examples();
    dims[static_cast<std::size_t>(rank) - 1] = column.longest;
    return {};
  }

  Status allocate_splits(Column& column, int output) {
    if (column.splits_dtype == DType::int32 && column.total > INT32_MAX)
      return invalid_argument(str_cat("The ragged feature '", column.key, "' has ", column.total,
                                      " values, too many for row splits of int32"));
    const Shape shape{inputs_.is_batch ? num_examples() + 1 : 0};
    TROUPE_ASSIGN(column.splits, host_.output(output, column.splits_dtype, shape));
    return dispatch(Indices{}, column.splits.dtype(), [&]<class T>() -> Status {
      if (inputs_.is_batch)
        column.splits.mutable_data<T>()[0] = 0;
      return {};
    });
  }

  // The third pass.

  void fill(std::int64_t begin, std::int64_t end) {
    for (Column& column : columns_) {
      if (!column.needs_cells())
        continue;
      Status status = dispatch(FeatureTypes{}, column.dtype, [&]<class T>() -> Status {
        for (std::int64_t e = begin; e < end; ++e)
          if (!fill_values<T>(column, e)) {
            errors_.add(e, malformed(column, e));
            return {};
          }
        return {};
      });
      if (!status.ok())
        return errors_.add(begin, std::move(status));
      if (column.form == Form::sparse)
        fill_indices(column, begin, end);
      else if (column.form == Form::ragged && inputs_.is_batch)
        fill_splits(column, begin, end);
    }
  }

  template <class T>
  bool fill_values(Column& column, std::int64_t e) {
    const Cell& cell = column.cells[static_cast<std::size_t>(e)];
    const std::int64_t count = column.end_of(static_cast<std::size_t>(e)) - cell.values;
    T* values = column.values.mutable_data<T>().data();
    if (column.form != Form::dense)
      return cell.feature.copy(values + cell.values, count);
    const std::int64_t width = column.has_fixed_shape()
                                   ? column.shape->row_elements
                                   : column.longest; // a multiple of the rows' elements
    T* to = values + e * width;
    if (column.has_fixed_shape() && cell.is_missing)
      std::ranges::copy(column.fallback->data<T>(), to);
    else if (!cell.feature.copy(to, count))
      return false;
    else
      std::fill(to + count, to + width,
                column.fallback->num_elements() == 0 ? T{} : column.fallback->data<T>()[0]);
    return true;
  }

  void fill_indices(Column& column, std::int64_t begin, std::int64_t end) {
    if (begin == end)
      return;
    std::int64_t* to = column.indices.mutable_data<std::int64_t>().data();
    to += column.cells[static_cast<std::size_t>(begin)].values * (inputs_.is_batch ? 2 : 1);
    for (std::int64_t e = begin; e < end; ++e) {
      const auto i = static_cast<std::size_t>(e);
      const std::int64_t count = column.end_of(i) - column.cells[i].values;
      for (std::int64_t k = 0; k < count; ++k) {
        if (inputs_.is_batch)
          *to++ = e;
        *to++ = k;
      }
    }
  }

  void fill_splits(Column& column, std::int64_t begin, std::int64_t end) {
    const auto put = [&]<class T>() -> Status {
      const auto to = column.splits.mutable_data<T>();
      for (auto e = static_cast<std::size_t>(begin); e < static_cast<std::size_t>(end); ++e)
        to[e + 1] = static_cast<T>(column.end_of(e));
      return {};
    };
    if (Status status = dispatch(Indices{}, column.splits.dtype(), put); !status.ok())
      errors_.add(begin, std::move(status));
  }

  ExampleHost& host_;
  const ExampleInputs& inputs_;
  std::vector<Column> columns_; // sparse, dense, ragged
  int sparse_ = 0, dense_ = 0, ragged_ = 0;
  FeatureNames names_;
  FirstError errors_;
};

class KernelHost final : public ExampleHost {
public:
  explicit KernelHost(KernelContext& c) : c_(c) {}
  Result<Tensor> output(int i, DType, const Shape& shape) override {
    return c_.allocate_output(i, shape);
  }
  Result<Tensor> temporary(DType dtype, const Shape& shape) override {
    return c_.allocate_temp(dtype, shape);
  }
  void for_ranges(std::int64_t count, double cost_ns, KernelContext::LoopBody body) override {
    c_.parallel_for(count, cost_ns, body);
  }

private:
  KernelContext& c_;
};

} // namespace

Result<ExampleSpec> make_example_spec(const AttrMap& attrs) {
  ExampleSpec out;
  TROUPE_ASSIGN(out.sparse, attrs.get<std::vector<DType>>("sparse_types"));
  TROUPE_ASSIGN(out.dense, attrs.get<std::vector<DType>>("Tdense"));
  TROUPE_ASSIGN(const auto shapes, attrs.get<std::vector<PartialShape>>("dense_shapes"));
  TROUPE_ASSIGN(out.shapes, dense_shapes(shapes));
  if (attrs.contains("ragged_value_types")) {
    TROUPE_ASSIGN(out.ragged, attrs.get<std::vector<DType>>("ragged_value_types"));
    TROUPE_ASSIGN(out.ragged_splits, attrs.get<std::vector<DType>>("ragged_split_types"));
  }
  TROUPE_TRY(require_same_length(out.dense.size(), shapes.size(), "dense_keys", "dense_shapes"));
  TROUPE_TRY(require_same_length(out.ragged.size(), out.ragged_splits.size(), "ragged_keys",
                                 "ragged_split_types"));
  return out;
}

std::vector<const Tensor*> default_inputs(const KernelContext& c, int first, std::size_t count) {
  std::vector<const Tensor*> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(&c.input(first + static_cast<int>(i)));
  return out;
}

Status check_defaults(const ExampleSpec& spec, const std::vector<const Tensor*>& defaults) {
  for (std::size_t i = 0; i < spec.dense.size(); ++i) {
    const Tensor& value = *defaults[i];
    const DenseShape& dense = spec.shapes[i];
    if (dense.is_variable && value.num_elements() != 1)
      return invalid_argument(
          str_cat("dense_shape[", i, "] is a variable length shape: ", dense.shape,
                  ", therefore def_value[", i,
                  "] must contain a single element (the padding element).  But its shape is: ",
                  value.shape()));
    if (!dense.is_variable && value.num_elements() > 0 &&
        !dense.shape.is_compatible_with(PartialShape(value.shape())))
      return invalid_argument(str_cat("def_value[", i, "].shape() == ", value.shape(),
                                      " is not compatible with dense_shapes_[", i,
                                      "] == ", dense.shape));
  }
  return {};
}

Status parse_examples(ExampleHost& host, const ExampleSpec& spec, const ExampleInputs& inputs) {
  TROUPE_TRY(check_defaults(spec, inputs.defaults));
  ExampleParser parser(host, inputs);
  TROUPE_TRY(parser.add_columns(spec));
  return parser.run();
}

Status parse_examples(KernelContext& c, const ExampleSpec& spec, const ExampleInputs& inputs) {
  KernelHost host(c);
  return parse_examples(host, spec, inputs);
}

} // namespace troupe::parsing
