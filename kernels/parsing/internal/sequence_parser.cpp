// In three passes, as example_parser.cpp: the messages are found and counted in parallel, the
// counts are added up so that tensors have their exact sizes, and the tensors are filled in
// parallel.
#include "kernels/parsing/internal/sequence_parser.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/strings.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/parsing/internal/feature.hpp"
#include "kernels/parsing/internal/feature_map.hpp"

namespace troupe::parsing {
namespace {

enum class ListForm : std::uint8_t { sparse, dense, ragged };

/// A feature, or a list of them, in one message.
struct ListCell {
  std::string_view message = {};
  bool is_missing = true;
  // After the second pass, how many there are in the messages before.
  std::int64_t rows = 0, values = 0;
  std::int64_t widest = 0;   ///< values of the longest row
  std::int64_t odd_row = -1; ///< of a dense list: the first with a wrong number of values
  std::int64_t odd_count = 0;
};

/// Where a column's outputs are.
struct Outputs {
  int values = -1, indices = -1, shape = -1, lengths = -1, splits = -1, outer_splits = -1;
};

struct ListColumn {
  std::string_view key;
  DType dtype = DType::invalid;
  ListForm form = ListForm::sparse;
  bool is_list = false;
  Shape shape = {};                 ///< of a dense one
  const Tensor* fallback = nullptr; ///< of a dense one of the context
  bool may_be_missing = false;      ///< a dense list
  Outputs at = {};
  Tensor memory = {}; ///< of the cells
  std::span<ListCell> cells = {};
  std::int64_t total = 0, total_rows = 0;                  ///< of all messages
  std::int64_t most_values = 0, most_rows = 0, widest = 0; ///< of one message; of one row
  Tensor values = {}, indices = {}, lengths = {}, splits = {}, outer_splits = {};

  /// Values of message e, and its rows.
  std::int64_t values_of(std::size_t e) const {
    return (e + 1 < cells.size() ? cells[e + 1].values : total) - cells[e].values;
  }
  std::int64_t rows_of(std::size_t e) const {
    return (e + 1 < cells.size() ? cells[e + 1].rows : total_rows) - cells[e].rows;
  }
};

/// Calls `use(row)` for each feature of the column's message, which is the only one of a context's;
/// false if it is no list, or as soon as `use` says so.
template <class Use>
bool for_each_row(const ListColumn& column, std::string_view message, Use&& use) {
  if (!column.is_list)
    return use(message);
  std::string_view row;
  for (WireCursor in(message); !in.at_end();)
    if (!in.take_tag(block_tag(1)) || !in.take_block(row) || !use(row))
      return false;
  return true;
}

template <class T>
void put_splits(Tensor& splits, std::size_t at, std::int64_t value) {
  splits.mutable_data<T>()[at] = static_cast<T>(value);
}
void put_split(Tensor& splits, std::size_t at, std::int64_t value) {
  if (splits.dtype() == DType::int32)
    put_splits<std::int32_t>(splits, at, value);
  else
    put_splits<std::int64_t>(splits, at, value);
}

class SequenceParser {
public:
  SequenceParser(KernelContext& c, const SequenceInputs& inputs, const SequenceErrors& errors)
      : c_(c), inputs_(inputs), errors_(errors) {}

  Status add_columns(const SequenceSpec& spec) {
    TROUPE_TRY(add_group(spec.context, inputs_.context, false));
    return add_group(spec.lists, inputs_.lists, true);
  }

  Status run() {
    for (ListColumn& column : columns_)
      TROUPE_TRY(make_cells(column));
    TROUPE_TRY(over_messages([this](std::int64_t begin, std::int64_t end) { find(begin, end); }));
    for (ListColumn& column : columns_) {
      add_up(column);
      TROUPE_TRY(column.form == ListForm::dense ? allocate_dense(column) : allocate_values(column));
      if (column.form == ListForm::sparse)
        TROUPE_TRY(allocate_sparse(column));
      if (column.form == ListForm::ragged)
        TROUPE_TRY(allocate_splits(column));
    }
    return over_messages([this](std::int64_t begin, std::int64_t end) { fill(begin, end); });
  }

private:
  std::int64_t num_messages() const { return static_cast<std::int64_t>(inputs_.serialized.size()); }
  std::int64_t batch_rank() const { return inputs_.is_batch ? 1 : 0; }

  template <class Pass>
  Status over_messages(Pass pass) {
    std::size_t bytes = 0;
    for (const std::string& one : inputs_.serialized)
      bytes += one.size();
    const double messages = static_cast<double>(std::max<std::int64_t>(1, num_messages()));
    const double cost =
        50 + 15 * static_cast<double>(columns_.size()) + static_cast<double>(bytes) / messages / 2;
    c_.parallel_for(num_messages(), cost, pass);
    return first_error_.status();
  }

  // Columns.

  Status add_group(const SequenceGroup& group, const SequenceKeys& keys, bool is_list) {
    const auto sparse = static_cast<int>(group.sparse.size());
    for (std::size_t i = 0; i < group.sparse.size(); ++i) {
      const int at = next_output_ + static_cast<int>(i);
      TROUPE_TRY(
          add(is_list, {.key = keys.sparse[i],
                        .dtype = group.sparse[i],
                        .at = {.values = at + sparse, .indices = at, .shape = at + 2 * sparse}}));
    }
    next_output_ += 3 * sparse;
    const auto dense = static_cast<int>(group.dense.size());
    for (std::size_t i = 0; i < group.dense.size(); ++i) {
      const int at = next_output_ + static_cast<int>(i);
      ListColumn column{.key = keys.dense[i],
                        .dtype = group.dense[i],
                        .form = ListForm::dense,
                        .shape = group.shapes[i],
                        .at = {.values = at}};
      if (is_list) {
        column.may_be_missing = inputs_.may_be_missing[i];
        column.at.lengths = inputs_.has_lengths ? at + dense : -1;
      } else {
        column.fallback = &c_.input(inputs_.first_default + static_cast<int>(i));
      }
      TROUPE_TRY(add(is_list, std::move(column)));
    }
    next_output_ += is_list && inputs_.has_lengths ? 2 * dense : dense;
    const auto ragged = static_cast<int>(group.ragged.size());
    for (std::size_t i = 0; i < group.ragged.size(); ++i) {
      const int at = next_output_ + static_cast<int>(i);
      Outputs outputs{.values = at, .splits = at + ragged};
      if (is_list)
        outputs = {.values = at, .splits = at + 2 * ragged, .outer_splits = at + ragged};
      TROUPE_TRY(add(is_list, {.key = keys.ragged[i],
                               .dtype = group.ragged[i],
                               .form = ListForm::ragged,
                               .at = outputs}));
    }
    next_output_ += (is_list ? 3 : 2) * ragged;
    return {};
  }

  Status add(bool is_list, ListColumn column) {
    FeatureNames& names = is_list ? lists_ : context_;
    const int other = names.find(column.key);
    if (other != FeatureNames::unwanted) {
      const ListForm form = columns_[first_of(is_list) + static_cast<std::size_t>(other)].form;
      const bool has_dense = (form == ListForm::dense) != (column.form == ListForm::dense);
      if (form != column.form)
        return invalid_argument(str_cat(is_list ? "Sequence" : "Context", " feature ", column.key,
                                        " cannot be both ", has_dense ? "dense" : "ragged",
                                        " and sparse"));
    }
    TROUPE_TRY(names.add(column.key));
    column.is_list = is_list;
    if (!is_list)
      ++num_context_;
    columns_.push_back(std::move(column));
    return {};
  }

  std::size_t first_of(bool is_list) const { return is_list ? num_context_ : 0; }

  Status make_cells(ListColumn& column) {
    const std::vector<std::int64_t> dims = {num_messages(),
                                            static_cast<std::int64_t>(sizeof(ListCell))};
    TROUPE_ASSIGN(const Shape bytes, Shape::make(dims));
    TROUPE_ASSIGN(column.memory, c_.allocate_temp(DType::uint8, bytes));
    auto* cells = static_cast<ListCell*>(column.memory.mutable_raw());
    const auto count = static_cast<std::size_t>(num_messages());
    std::uninitialized_default_construct_n(cells, count);
    column.cells = {cells, count};
    return {};
  }

  // The first pass.

  std::string_view name_of(std::int64_t e) const {
    if (inputs_.names.empty())
      return "<unknown>";
    return inputs_.names[static_cast<std::size_t>(e)];
  }
  SequenceErrors::Place place_of(const ListColumn& column, std::int64_t e,
                                 std::int64_t row = 0) const {
    return {.example = name_of(e),
            .key = column.key,
            .dtype = column.dtype,
            .is_list = column.is_list,
            .is_dense = column.form == ListForm::dense,
            .row = row};
  }

  void find(std::int64_t begin, std::int64_t end) {
    NameGuesser context(context_), lists(lists_);
    for (std::int64_t e = begin; e < end && !first_error_.is_before(e); ++e) {
      context.restart();
      lists.restart();
      Status status = find_messages(e, context, lists);
      for (std::size_t i = 0; i < columns_.size() && status.ok(); ++i)
        status = count(columns_[i], e);
      if (!status.ok())
        return first_error_.add(e, std::move(status));
    }
  }

  /// Of entries of one name the last one counts.
  Status find_messages(std::int64_t e, NameGuesser& context, NameGuesser& lists) {
    const auto at = static_cast<std::size_t>(e);
    const auto take_map = [&](NameGuesser& names, std::size_t first, std::string_view map) {
      return for_each_entry(map, [&](std::string_view key, std::string_view message) {
        if (const int place = names.find(key); place != FeatureNames::unwanted) {
          ListCell& cell = columns_[first + static_cast<std::size_t>(place)].cells[at];
          cell.message = message;
          cell.is_missing = false;
        }
        return true;
      });
    };
    const std::string& text = inputs_.serialized[at];
    std::string_view map;
    for (WireCursor in(text); !in.at_end();) {
      bool is_read = true;
      if (in.take_tag(block_tag(1)))
        is_read = in.take_cut_block(map) && take_map(context, first_of(false), map);
      else if (in.take_tag(block_tag(2)))
        is_read = in.take_cut_block(map) && take_map(lists, first_of(true), map);
      else
        is_read = in.skip_field();
      if (!is_read)
        return errors_.no_message(name_of(e), text);
    }
    return {};
  }

  Status count(ListColumn& column, std::int64_t e) const {
    ListCell& cell = column.cells[static_cast<std::size_t>(e)];
    if (cell.is_missing)
      return {};
    Status status;
    const bool is_list = for_each_row(column, cell.message, [&](std::string_view row) {
      const auto feature = Feature::read(row);
      const bool is_right = feature && (feature->has_kind() ? feature->dtype() == column.dtype
                                                            : column.form != ListForm::dense ||
                                                                  errors_.takes_no_kind());
      const auto values = is_right ? feature->count() : std::nullopt;
      if (!values) {
        status = errors_.wrong_kind(place_of(column, e, cell.rows),
                                    feature ? feature->to_text() : "of a kind that there is not");
        return false;
      }
      if (column.form == ListForm::dense && column.is_list && cell.odd_row < 0 &&
          *values != column.shape.num_elements()) {
        cell.odd_row = cell.rows;
        cell.odd_count = *values;
      }
      cell.values += *values;
      cell.widest = std::max(cell.widest, *values);
      ++cell.rows;
      return true;
    });
    if (!status.ok() || is_list)
      return status;
    return invalid_argument(
        str_cat("Error in sequence feature ", column.key, " in example ", name_of(e)));
  }

  // The second pass.

  static void add_up(ListColumn& column) {
    for (ListCell& cell : column.cells) {
      column.most_values = std::max(column.most_values, cell.values);
      column.most_rows = std::max(column.most_rows, cell.rows);
      column.widest = std::max(column.widest, cell.widest);
      column.total += std::exchange(cell.values, column.total);
      column.total_rows += std::exchange(cell.rows, column.total_rows);
    }
  }

  /// Before text is written: it is no more than the messages have, and defaults.
  Status charge_text(const ListColumn& column) const {
    if (column.dtype != DType::string)
      return {};
    std::size_t fallback = 0, bytes = 0;
    if (column.fallback)
      for (const std::string& one : column.fallback->data<std::string>())
        fallback += one.size();
    for (const ListCell& cell : column.cells)
      bytes += cell.is_missing ? fallback : cell.message.size();
    return column.values.charge(bytes);
  }

  Status allocate_values(ListColumn& column) {
    TROUPE_ASSIGN(column.values, c_.allocate_output(column.at.values, Shape{column.total}));
    return charge_text(column);
  }

  /// The dimension of the batch before these.
  Result<Shape> batch_shape(std::vector<std::int64_t> dims) const {
    if (inputs_.is_batch)
      dims.insert(dims.begin(), num_messages());
    return Shape::make(dims);
  }

  Status allocate_dense(ListColumn& column) {
    std::vector<std::int64_t> dims(column.shape.dims().begin(), column.shape.dims().end());
    TROUPE_TRY(column.is_list ? check_list(column) : check_context(column));
    if (column.is_list)
      dims.insert(dims.begin(), column.most_rows);
    TROUPE_ASSIGN(const Shape shape, batch_shape(std::move(dims)));
    TROUPE_ASSIGN(column.values, c_.allocate_output(column.at.values, shape));
    if (column.at.lengths >= 0) {
      TROUPE_ASSIGN(const Shape lengths, batch_shape({}));
      TROUPE_ASSIGN(column.lengths, c_.allocate_output(column.at.lengths, lengths));
    }
    return charge_text(column);
  }

  Status check_context(const ListColumn& column) const {
    const std::int64_t fallback = column.fallback->num_elements(),
                       most = std::max(column.most_values, fallback);
    for (std::int64_t e = 0; e < num_messages(); ++e) {
      const auto i = static_cast<std::size_t>(e);
      const bool is_missing = column.cells[i].is_missing;
      if (is_missing && fallback == 0)
        return errors_.missing_context(place_of(column, e), most, column.shape);
      const std::int64_t count = is_missing ? fallback : column.values_of(i);
      if (count != column.shape.num_elements())
        return errors_.wrong_count(place_of(column, e), count, most, column.shape);
    }
    return {};
  }

  Status check_list(const ListColumn& column) const {
    for (std::int64_t e = 0; e < num_messages(); ++e) {
      const ListCell& cell = column.cells[static_cast<std::size_t>(e)];
      if (cell.is_missing && !column.may_be_missing)
        return invalid_argument(
            str_cat("Name: ", name_of(e), ", Feature list '", column.key,
                    "' is required but could not be found.  Did you mean to include it in "
                    "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"));
      if (cell.odd_row >= 0)
        return errors_.wrong_row(place_of(column, e, cell.odd_row), cell.odd_count,
                                 column.most_values, column.shape);
    }
    return {};
  }

  Status allocate_sparse(ListColumn& column) {
    const std::int64_t rank = batch_rank() + (column.is_list ? 2 : 1);
    TROUPE_ASSIGN(column.indices, c_.allocate_output(column.at.indices, Shape{column.total, rank}));
    TROUPE_ASSIGN(Tensor shape, c_.allocate_output(column.at.shape, Shape{rank}));
    auto* to = shape.mutable_data<std::int64_t>().data();
    if (inputs_.is_batch)
      *to++ = num_messages();
    if (column.is_list)
      *to++ = column.most_rows;
    *to = column.widest;
    return {};
  }

  Status allocate_splits(ListColumn& column) {
    const std::int64_t most = std::max(column.total, column.total_rows);
    if (c_.output_type(column.at.splits) == DType::int32 && most > INT32_MAX)
      return invalid_argument(str_cat("The ragged feature '", column.key, "' has ", most,
                                      " rows or values, too many for row splits of int32"));
    // Of one message alone nothing is split along the batch: a zero, as TensorFlow has it.
    const Shape along_batch = inputs_.is_batch ? Shape{num_messages() + 1} : Shape{};
    const Shape shape = column.is_list ? Shape{column.total_rows + 1} : along_batch;
    TROUPE_ASSIGN(column.splits, c_.allocate_output(column.at.splits, shape));
    put_split(column.splits, 0, 0);
    if (!column.is_list)
      return {};
    TROUPE_ASSIGN(column.outer_splits, c_.allocate_output(column.at.outer_splits, along_batch));
    put_split(column.outer_splits, 0, 0);
    return {};
  }

  // The third pass.

  void fill(std::int64_t begin, std::int64_t end) {
    for (ListColumn& column : columns_) {
      Status status = dispatch(FeatureTypes{}, column.dtype, [&]<class T>() -> Status {
        for (std::int64_t e = begin; e < end; ++e)
          if (!fill_message<T>(column, static_cast<std::size_t>(e)))
            return errors_.wrong_kind(place_of(column, e), "malformed");
        return {};
      });
      if (!status.ok())
        return first_error_.add(begin, std::move(status));
    }
  }

  template <class T>
  bool fill_message(ListColumn& column, std::size_t e) {
    const std::int64_t values = column.values_of(e), rows = column.rows_of(e);
    T* all = column.values.mutable_data<T>().data();
    if (column.form == ListForm::dense) {
      const std::int64_t width =
          column.shape.num_elements() * (column.is_list ? column.most_rows : 1);
      T* to = all + static_cast<std::int64_t>(e) * width;
      if (column.is_list)
        std::fill(to + values, to + width, T{});
      if (column.at.lengths >= 0)
        column.lengths.mutable_data<std::int64_t>()[e] = rows;
      if (column.cells[e].is_missing && column.fallback) {
        std::ranges::copy(column.fallback->data<T>(), to);
        return true;
      }
      return copy_rows(column, e, to, [](std::int64_t, std::int64_t) {});
    }
    T* to = all + column.cells[e].values;
    if (column.form == ListForm::sparse)
      return fill_sparse(column, e, to);
    const auto row = static_cast<std::size_t>(column.cells[e].rows);
    const std::int64_t before = column.cells[e].values;
    if (!column.is_list) {
      if (inputs_.is_batch)
        put_split(column.splits, e + 1, before + values);
      return copy_rows(column, e, to, [](std::int64_t, std::int64_t) {});
    }
    if (inputs_.is_batch)
      put_split(column.outer_splits, e + 1, static_cast<std::int64_t>(row) + rows);
    std::int64_t ends = before;
    return copy_rows(column, e, to, [&](std::int64_t r, std::int64_t count) {
      ends += count;
      put_split(column.splits, row + static_cast<std::size_t>(r) + 1, ends);
    });
  }

  template <class T>
  bool fill_sparse(ListColumn& column, std::size_t e, T* to) {
    const std::int64_t rank = batch_rank() + (column.is_list ? 2 : 1);
    std::int64_t* index =
        column.indices.mutable_data<std::int64_t>().data() + column.cells[e].values * rank;
    return copy_rows(column, e, to, [&](std::int64_t row, std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k) {
        if (inputs_.is_batch)
          *index++ = static_cast<std::int64_t>(e);
        if (column.is_list)
          *index++ = row;
        *index++ = k;
      }
    });
  }

  /// Copies the values of a message to where `to` has room for all of them; `each(row, count)`.
  template <class T, class Each>
  bool copy_rows(const ListColumn& column, std::size_t e, T* to, Each each) {
    const ListCell& cell = column.cells[e];
    if (cell.is_missing)
      return true;
    std::int64_t row = 0;
    return for_each_row(column, cell.message, [&](std::string_view message) {
      const auto feature = Feature::read(message);
      const auto count = feature ? feature->count() : std::nullopt;
      if (!count || !feature->copy(to, *count))
        return false;
      to += *count;
      each(row++, *count);
      return true;
    });
  }

  KernelContext& c_;
  const SequenceInputs& inputs_;
  const SequenceErrors& errors_;
  std::vector<ListColumn> columns_; // of the context, of the lists
  std::size_t num_context_ = 0;
  int next_output_ = 0;
  FeatureNames context_, lists_;
  FirstError first_error_;
};

} // namespace

Result<SequenceGroup> make_sequence_group(const AttrMap& attrs, const SequenceAttrs& names) {
  SequenceGroup out;
  TROUPE_ASSIGN(out.sparse, attrs.get<std::vector<DType>>(names.sparse_types));
  TROUPE_ASSIGN(out.dense, attrs.get<std::vector<DType>>(names.dense_types));
  TROUPE_ASSIGN(const auto shapes, attrs.get<std::vector<PartialShape>>(names.dense_shapes));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto shape = shapes[i].to_shape();
    if (!shape)
      return invalid_argument(str_cat(names.dense_shapes, "[", i,
                                      "] must be fully defined, but is ", shape_text(shapes[i])));
    out.shapes.push_back(*shape);
  }
  if (!names.ragged_types.empty()) {
    TROUPE_ASSIGN(out.ragged, attrs.get<std::vector<DType>>(names.ragged_types));
    TROUPE_ASSIGN(out.ragged_splits, attrs.get<std::vector<DType>>(names.ragged_splits));
  }
  return out;
}

Status parse_sequence_examples(KernelContext& c, const SequenceSpec& spec,
                               const SequenceInputs& inputs, const SequenceErrors& errors) {
  SequenceParser parser(c, inputs, errors);
  TROUPE_TRY(parser.add_columns(spec));
  return parser.run();
}

Status infer_sequence_outputs(ShapeContext& c, const SequenceSpec& spec, const PartialShape& batch,
                              bool has_lengths) {
  OutputShapes outputs(c);
  const PartialShape vector{shape_rules::unknown_dim};
  // Row splits along the batch.
  PartialShape splits;
  if (batch.rank() == 0)
    splits = PartialShape(Shape{});
  else if (batch.has_rank())
    splits = PartialShape{batch.dim(0) < 0 ? shape_rules::unknown_dim : batch.dim(0) + 1};
  const auto partial = [](const std::vector<Shape>& shapes) {
    return std::vector<PartialShape>(shapes.begin(), shapes.end());
  };
  TROUPE_TRY(outputs.add_sparse(spec.context.sparse.size(), batch, 1));
  TROUPE_TRY(outputs.add_dense(partial(spec.context.shapes), batch));
  TROUPE_TRY(outputs.add(spec.context.ragged.size(), vector));
  TROUPE_TRY(outputs.add(spec.context.ragged.size(), splits));
  TROUPE_TRY(outputs.add_sparse(spec.lists.sparse.size(), batch, 2));
  TROUPE_TRY(outputs.add_dense(partial(spec.lists.shapes), concatenated(batch, vector)));
  if (has_lengths)
    TROUPE_TRY(outputs.add(spec.lists.dense.size(), batch));
  TROUPE_TRY(outputs.add(spec.lists.ragged.size(), vector));
  TROUPE_TRY(outputs.add(spec.lists.ragged.size(), splits));
  return outputs.add(spec.lists.ragged.size(), vector);
}

} // namespace troupe::parsing
