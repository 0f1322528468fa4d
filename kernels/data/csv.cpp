// CSVDataset, CSVDatasetV2, ExperimentalCSVDataset: the records of CSV files, as RFC 4180 has them.
#include <algorithm>
#include <array>
#include <span>

#include "kernels/data/internal/file_dataset.hpp"
#include "kernels/strings/internal/text.hpp"

namespace troupe::data_csv {

using namespace data;
using data::unknown;

namespace {

struct Csv {
  std::vector<std::string> files;
  Compression how = Compression::none;
  bool has_header = false, has_quotes = true;
  char delimiter = ',';
  std::string not_given;
  std::vector<std::int64_t> selected, excluded; ///< of one of them there are none
  Tensors defaults;                             ///< without an element: the field has to be there

  bool wants(std::int64_t column) const {
    if (!selected.empty())
      return std::ranges::binary_search(selected, column);
    return !std::ranges::binary_search(excluded, column);
  }
};

/// The records of one file. A record that is wrong is read to its end, so that the next one can be
/// read. One thread at a time.
class Records {
public:
  Records(const Csv& csv, const std::vector<DType>& types, std::unique_ptr<ByteSource> bytes,
          Allocator& memory)
      : csv_(csv), types_(types), memory_(memory), bytes_(std::move(bytes)) {}

  /// Whether there was one more; `wrong` tells what is wrong with it. An error: no more can be
  /// read.
  Result<bool> next(Element& element, Status& wrong) {
    return read(
        [&](std::int64_t column, std::string_view text, Status& why) {
          if (csv_.wants(column) && why.ok())
            why = add(text, element);
        },
        wrong,
        [&](Status& why) {
          if (why.ok() && element.size() != types_.size())
            why = invalid_argument(str_cat("Expect ", types_.size(), " fields but have ",
                                           element.size(), " in record"));
        });
  }
  Result<bool> skip() {
    Status wrong;
    return read([](std::int64_t, std::string_view, Status&) {}, wrong, [](Status&) {});
  }

private:
  static constexpr int end = -1;

  template <class Add, class Check>
  Result<bool> read(Add add_field, Status& wrong, Check check) {
    Charge held(memory_);
    TROUPE_ASSIGN(const int first, peek());
    if (first == end)
      return false;
    bool has_more = true;
    for (std::int64_t column = 0; has_more; ++column) {
      std::string text;
      TROUPE_ASSIGN(const int begin, peek());
      if (csv_.has_quotes && begin == '"')
        TROUPE_TRY(read_quoted(text, has_more, wrong, held));
      else
        TROUPE_TRY(read_plain(text, has_more, wrong, held));
      add_field(column, text, wrong);
    }
    check(wrong);
    return true;
  }

  /// The next byte, or `end`.
  Result<int> peek() {
    if (at_ < have_)
      return static_cast<unsigned char>(buffer_[at_]);
    at_ = 0;
    TROUPE_ASSIGN(have_, bytes_->read(std::as_writable_bytes(std::span(buffer_))));
    return have_ == 0 ? end : static_cast<unsigned char>(buffer_[0]);
  }

  Status append(std::string& text, int byte, Charge& held) {
    if (text.size() == text.capacity())
      TROUPE_TRY(held.add(text.size() + 16));
    text += static_cast<char>(byte);
    return {};
  }

  /// Behind the end of a record's line.
  Status take_line_end(int byte) {
    ++at_;
    if (byte != '\r')
      return {};
    TROUPE_ASSIGN(const int next, peek());
    if (next == '\n')
      ++at_;
    return {};
  }

  Status read_plain(std::string& text, bool& has_more, Status& wrong, Charge& held) {
    for (;;) {
      TROUPE_ASSIGN(const int byte, peek());
      if (byte == end || byte == '\n' || byte == '\r') {
        has_more = false;
        return byte == end ? Status() : take_line_end(byte);
      }
      if (byte != static_cast<unsigned char>(csv_.delimiter)) {
        if (csv_.has_quotes && byte == '"' && wrong.ok())
          wrong = invalid_argument("Unquoted fields cannot have quotes inside");
        TROUPE_TRY(append(text, byte, held));
      }
      ++at_;
      if (byte == static_cast<unsigned char>(csv_.delimiter))
        return {};
    }
  }

  Status read_quoted(std::string& text, bool& has_more, Status& wrong, Charge& held) {
    ++at_;
    for (;;) {
      TROUPE_ASSIGN(const int byte, peek());
      if (byte == end) {
        has_more = false;
        if (wrong.ok())
          wrong = invalid_argument("Reached end of file without closing quoted field in record");
        return {};
      }
      ++at_;
      if (byte != '"') {
        TROUPE_TRY(append(text, byte, held));
        continue;
      }
      TROUPE_ASSIGN(const int next, peek());
      if (next == end || next == '\n' || next == '\r') {
        has_more = false;
        return next == end ? Status() : take_line_end(next);
      }
      ++at_;
      if (next == static_cast<unsigned char>(csv_.delimiter))
        return {};
      if (next != '"' && wrong.ok())
        wrong = invalid_argument("Quote inside a string has to be escaped by another quote");
      TROUPE_TRY(append(text, next, held));
    }
  }

  Status add(std::string_view text, Element& element) {
    const std::size_t at = element.size();
    if (at >= types_.size())
      return invalid_argument(str_cat("Expect ", types_.size(), " fields but have more in record"));
    const bool is_missing = text.empty() || text == csv_.not_given;
    if (is_missing && csv_.defaults[at].num_elements() != 1)
      return invalid_argument(str_cat("Field ", at, " is required but missing in record!"));
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory_, types_[at], Shape{}));
    TROUPE_TRY(dispatch(Types<float, double, std::int32_t, std::int64_t, std::string>{}, types_[at],
                        [&]<class T>() -> Status {
                          T& to = out.mutable_data<T>()[0];
                          if (is_missing) {
                            to = csv_.defaults[at].data<T>()[0];
                          } else if constexpr (std::is_same_v<T, std::string>) {
                            to = text;
                          } else {
                            const auto number = strings::parse_number<T>(text);
                            if (!number)
                              return invalid_argument(str_cat("Field ", at,
                                                              " in record is not a valid ",
                                                              to_string(dtype_of<T>), ": ", text));
                            to = *number;
                          }
                          return {};
                        }));
    TROUPE_TRY(out.settle(memory_));
    element.push_back(std::move(out));
    return {};
  }

  const Csv& csv_;
  const std::vector<DType>& types_;
  Allocator& memory_;
  const std::unique_ptr<ByteSource> bytes_;
  std::array<char, 65536> buffer_ = {};
  std::size_t at_ = 0, have_ = 0; // of the buffer
};

class CsvDataset final : public Dataset {
public:
  CsvDataset(const KernelContext& c, Csv csv) : Dataset(c), csv_(std::move(csv)) {}
  std::int64_t cardinality() const override { return unknown; }
  Result<IteratorRef> iterate(const std::shared_ptr<Pipeline>& pipeline) const override {
    TROUPE_ASSIGN(auto allowed, pipeline->files());
    return IteratorRef(
        std::make_unique<All>(self<CsvDataset>(), std::move(allowed), pipeline->memory()));
  }

private:
  // A file that cannot be read ends: the next call goes on with the next one.
  class All final : public Iterator {
  public:
    All(std::shared_ptr<const CsvDataset> dataset, std::shared_ptr<AllowedFiles> files,
        Allocator& memory)
        : dataset_(std::move(dataset)), files_(std::move(files)), memory_(memory) {}

    Async<Next> next(ElementPull& pull) override {
      while (file_ < dataset_->csv_.files.size()) {
        TROUPE_CO_TRY(co_await pull.breathe());
        Element element;
        Status wrong;
        const Result<bool> more = read(element, wrong);
        if (more.ok() && *more) {
          ++read_;
          TROUPE_CO_TRY(wrong);
          co_return one_more(std::move(element));
        }
        records_ = nullptr;
        read_ = 0;
        ++file_;
        TROUPE_CO_TRY(more.status());
      }
      co_return end_of_sequence();
    }

    Async<Status> save(ElementPull&, StateWriter to) override {
      to.put("file", static_cast<std::int64_t>(file_));
      to.put("read", read_);
      return Status();
    }
    Async<Status> restore(ElementPull& pull, StateReader from) override {
      TROUPE_CO_ASSIGN(const std::int64_t file, from.integer("file"));
      TROUPE_CO_ASSIGN(const std::int64_t read_before, from.integer("read"));
      if (file < 0 || read_before < 0)
        co_return data_loss("the state of the iterator has no file to go on with");
      file_ = static_cast<std::size_t>(file);
      if (read_before == 0 || file_ >= dataset_->csv_.files.size())
        co_return Status();
      TROUPE_CO_TRY(open());
      for (; read_ < read_before; ++read_) {
        TROUPE_CO_TRY(co_await pull.breathe());
        TROUPE_CO_ASSIGN(const bool more, records_->skip());
        if (!more)
          co_return data_loss(str_cat("file '", dataset_->csv_.files[file_], "' had ", read_before,
                                      " records or more when the iterator was saved, and has ",
                                      read_));
      }
      co_return Status();
    }

  private:
    Status open() {
      const Csv& csv = dataset_->csv_;
      TROUPE_ASSIGN(auto bytes, files_->open(csv.files[file_]));
      records_ = std::make_unique<Records>(csv, dataset_->types(),
                                           read_in_order(std::move(bytes), csv.how), memory_);
      if (!csv.has_header)
        return {};
      const Result<bool> header = records_->skip();
      return header.ok() && *header ? Status() : invalid_argument("Can't read header of file");
    }
    Result<bool> read(Element& element, Status& wrong) {
      if (!records_)
        TROUPE_TRY(open());
      return records_->next(element, wrong);
    }

    std::shared_ptr<const CsvDataset> dataset_;
    std::shared_ptr<AllowedFiles> files_;
    Allocator& memory_;
    std::unique_ptr<Records> records_; // of the file; null: it is not open
    std::size_t file_ = 0;
    std::int64_t read_ = 0; // of the file, behind its header
  };

  const Csv csv_;
};

Result<std::vector<std::int64_t>> columns(const KernelContext& c, int input,
                                          std::string_view name) {
  if (c.input(input).shape().rank() != 1)
    return invalid_argument(str_cat("`", name, "` must be a vector."));
  TROUPE_ASSIGN(auto out, vector_input<std::int64_t>(c, input));
  for (std::size_t i = 1; i < out.size(); ++i)
    if (out[i - 1] >= out[i])
      return invalid_argument(str_cat(name, " should be strictly increasing indices"));
  if (!out.empty() && out[0] < 0)
    return invalid_argument(str_cat(name, " should be non-negative indices"));
  return out;
}

Status check_defaults(const Tensors& defaults) {
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    if (defaults[i].shape().rank() > 1)
      return invalid_argument("Each record default should be at most rank 1");
    if (defaults[i].num_elements() > 1)
      return invalid_argument(str_cat("There should only be 1 default per field but field ", i,
                                      " has ", defaults[i].num_elements()));
  }
  return {};
}

template <bool second>
Result<DatasetRef> make(KernelContext& c) {
  Csv csv;
  TROUPE_ASSIGN(csv.files, file_names(c));
  TROUPE_ASSIGN(const auto compression, scalar_input<std::string>(c, 1));
  TROUPE_ASSIGN(const auto types, c.attr<std::vector<DType>>("output_types"));
  const int first = 8, last = first + static_cast<int>(types.size());
  for (int i = first; i < last; ++i)
    csv.defaults.push_back(c.input(i));
  TROUPE_TRY(check_defaults(csv.defaults));
  TROUPE_ASSIGN(const auto buffer_size, scalar_input<std::int64_t>(c, 2));
  if (buffer_size <= 0)
    return invalid_argument("buffer_size should be positive");
  TROUPE_ASSIGN(const auto delimiter, scalar_input<std::string>(c, 4));
  if (delimiter.size() != 1)
    return invalid_argument("field_delim should be only 1 char");
  csv.delimiter = delimiter[0];
  TROUPE_ASSIGN(csv.has_header, scalar_input<bool>(c, 3));
  TROUPE_ASSIGN(csv.has_quotes, scalar_input<bool>(c, 5));
  TROUPE_ASSIGN(csv.not_given, scalar_input<std::string>(c, 6));
  const auto how = parse_compression(compression);
  if (!how.ok() || compression == "NONE")
    return invalid_argument(str_cat("Unsupported compression_type: ", compression, "."));
  csv.how = *how;
  TROUPE_ASSIGN(csv.selected, columns(c, 7, "select_cols"));
  if (!csv.selected.empty() && csv.selected.size() != types.size())
    return invalid_argument("select_cols should match output size");
  if constexpr (second) {
    TROUPE_ASSIGN(csv.excluded, columns(c, last, "exclude_cols"));
    if (!csv.selected.empty() && !csv.excluded.empty())
      return invalid_argument("Either select_cols or exclude_cols should be empty");
  }
  return new_dataset<CsvDataset>(c, std::move(csv));
}

Status infer_shapes(ShapeContext& c) {
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  for (int i = 1; i < 7; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  TROUPE_TRY(c.require_rank(7, 1));
  TROUPE_ASSIGN(const ArgRange defaults, c.input_range("record_defaults"));
  for (int i = defaults.begin; i < defaults.end; ++i)
    TROUPE_TRY(c.require_rank_at_most(i, 1));
  return shape_scalar(c);
}

} // namespace

void register_ops(OpLibrary& library) {
  for (const std::string_view name : {"CSVDataset", "CSVDatasetV2", "ExperimentalCSVDataset"}) {
    const bool is_second = name == "CSVDatasetV2";
    auto op = library.op(name);
    op.input("filenames: string; compression_type: string; buffer_size: int64; header: bool")
        .input("field_delim: string; use_quote_delim: bool; na_value: string; select_cols: int64")
        .input("record_defaults: output_types");
    if (is_second)
      op.input("exclude_cols: int64");
    op.output("handle: variant")
        .attr("output_types: list({float, double, int32, int64, string}) >= 1")
        .attr("output_shapes: list(shape) >= 1")
        .stateful()
        .shape_fn(infer_shapes)
        .not_differentiable(no_gradient)
        .cpu_kernel(is_second ? compute<make<true>> : compute<make<false>>)
        .doc("The records of CSV files, a component for each column, with a default where it is "
             "empty.");
  }
}

} // namespace troupe::data_csv
