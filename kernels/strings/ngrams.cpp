// StringNGrams: texts of each row that follow one another, joined, in every width that is asked
// for; the row may be padded at both ends.
#include <algorithm>
#include <limits>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::strings_ngrams {
namespace {

using Count = std::int64_t;

struct Settings {
  std::string separator, left_pad, right_pad;
  std::vector<Count> widths;
  Count pad_width = 0; ///< negative: as wide as there is room for
  bool preserve_short = false;

  Count padding(Count width) const {
    return std::min(pad_width < 0 ? width - 1 : pad_width, width - 1);
  }
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Settings out;
  TROUPE_ASSIGN(out.separator, c.attr<std::string>("separator"));
  TROUPE_ASSIGN(out.left_pad, c.attr<std::string>("left_pad"));
  TROUPE_ASSIGN(out.right_pad, c.attr<std::string>("right_pad"));
  TROUPE_ASSIGN(out.widths, c.attr<std::vector<Count>>("ngram_widths"));
  TROUPE_ASSIGN(out.pad_width, c.attr<Count>("pad_width"));
  TROUPE_ASSIGN(out.preserve_short, c.attr<bool>("preserve_short_sequences"));
  constexpr Count most = std::numeric_limits<std::int32_t>::max();
  for (const Count width : out.widths)
    if (width > most)
      return invalid_argument(str_cat("Value out of range for ngram_widths: ", width));
  if (out.pad_width > most)
    return invalid_argument(str_cat("Value out of range for pad_width: ", out.pad_width));
  return prepared(std::move(out));
}

/// How many there are of a row of `length` texts.
Result<Count> num_ngrams(const Settings& s, Count length, Count width) {
  const Count padding = s.padding(width);
  if (padding > std::numeric_limits<std::int32_t>::max() / 2 - length)
    return invalid_argument(
        str_cat("Pad width could lead to integer overflow, got pad_width = ", padding));
  return std::max(Count{0}, length + 2 * padding - width + 1);
}

/// What n-gram `i` of `count` consists of.
struct Ngram {
  Count left, right;  ///< paddings
  Count first, texts; ///< of the row
  Ngram(Count i, Count count, Count width, Count padding)
      : left(std::max(Count{0}, padding - i)), right(std::max(Count{0}, padding - (count - 1 - i))),
        first(left > 0 ? 0 : i - padding), texts(width - (left + right)) {}
};

/// The n-grams of one width of one row.
struct Run {
  std::span<const std::string> row;
  Count width = 0, count = 0;
};

void append_repeated(std::string& out, std::string_view text, std::string_view separator,
                     Count times) {
  for (Count i = 0; i < times; ++i)
    out.append(text).append(separator);
}

std::string join(const Settings& s, const Run& run, Count i) {
  const Ngram ngram(i, run.count, run.width, s.padding(run.width));
  std::string out;
  append_repeated(out, s.left_pad, s.separator, ngram.left);
  for (Count k = 0; k < ngram.texts; ++k)
    out.append(run.row[static_cast<std::size_t>(ngram.first + k)]).append(s.separator);
  append_repeated(out, s.right_pad, s.separator, ngram.right);
  out.resize(out.size() - s.separator.size());
  return out;
}

/// Bytes of all of them; `lengths[k]` are those of the texts before text k of the row. Infinity
/// is as good as any number that is too large.
double text_bytes(const Settings& s, const Run& run, std::span<const double> lengths) {
  double out = 0;
  for (Count i = 0; i < run.count; ++i) {
    const Ngram ngram(i, run.count, run.width, s.padding(run.width));
    out += static_cast<double>(ngram.left) * static_cast<double>(s.left_pad.size()) +
           static_cast<double>(ngram.right) * static_cast<double>(s.right_pad.size()) +
           static_cast<double>(run.width - 1) * static_cast<double>(s.separator.size());
    if (ngram.texts > 0)
      out += lengths[static_cast<std::size_t>(ngram.first + ngram.texts)] -
             lengths[static_cast<std::size_t>(ngram.first)];
  }
  return out;
}

template <class T>
Status check_splits(std::span<const T> splits, std::size_t size) {
  if (splits.empty())
    return {};
  T before = splits[0];
  if (before != 0)
    return invalid_argument(str_cat("First split value must be 0, got ", before));
  for (const T split : splits.subspan(1)) {
    if (split < before || static_cast<std::size_t>(split) > size)
      return invalid_argument(
          str_cat("Invalid split value ", split, ", must be in [", before, ", ", size, "]"));
    before = split;
  }
  if (static_cast<std::size_t>(before) != size)
    return invalid_argument(
        str_cat("Last split value must be data size. Expected ", size, ", got ", before));
  return {};
}

/// The runs of one row, with the short one that is kept.
Result<std::vector<Run>> runs_of(const Settings& s, std::span<const std::string> row) {
  std::vector<Run> out;
  const auto length = static_cast<Count>(row.size());
  Count all = 0;
  for (const Count width : s.widths) {
    TROUPE_ASSIGN(const Count count, num_ngrams(s, length, width));
    out.push_back({row, width, count});
    all += count;
  }
  if (!s.preserve_short || length == 0 || all > 0)
    return out;
  if (s.pad_width < 0)
    return invalid_argument(
        str_cat("Pad width should be >= 0 when preserve_short_sequences is True "
                "and ngram_widths are not provided, got ",
                s.pad_width));
  out.push_back({row, length + 2 * s.pad_width, 1});
  return out;
}

/// Calls `use(row, runs)` for each row.
template <class T, class Use>
Status for_each_row(const Settings& s, std::span<const std::string> data, std::span<const T> splits,
                    Use use) {
  for (std::size_t i = 0; i + 1 < splits.size(); ++i) {
    const auto row = data.subspan(static_cast<std::size_t>(splits[i]),
                                  static_cast<std::size_t>(splits[i + 1] - splits[i]));
    TROUPE_ASSIGN(const std::vector<Run> runs, runs_of(s, row));
    TROUPE_TRY(use(i, runs));
  }
  return {};
}

template <class T>
Status join_rows(KernelContext& c) {
  const auto& s = c.prepared<Settings>();
  for (const Count width : s.widths)
    if (width <= 0)
      return invalid_argument("ngram_widths must contain positive values");
  const auto data = c.input(0).data<std::string>();
  const auto splits = c.input(1).data<T>();
  TROUPE_TRY(check_splits(splits, data.size()));
  TROUPE_ASSIGN(Tensor row_ends, c.allocate_output(1, c.input(1).shape()));
  const auto ends = row_ends.mutable_data<T>();
  if (!ends.empty())
    ends[0] = 0;
  // Without any texts not even rows of padding are made.
  const std::span<const T> rows = data.empty() ? std::span<const T>() : splits;
  std::fill(ends.begin(), ends.end(), T{0});
  Count total = 0;
  TROUPE_TRY(
      for_each_row(s, data, rows, [&](std::size_t i, const std::vector<Run>& runs) -> Status {
        for (const Run& run : runs)
          total += run.count;
        if (total > std::numeric_limits<T>::max())
          return invalid_argument(str_cat("There are more n-grams than row splits of ",
                                          to_string(dtype_of<T>), " can count"));
        ends[i + 1] = static_cast<T>(total);
        return {};
      }));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{total}));
  double bytes = 0;
  TROUPE_TRY(for_each_row(s, data, rows, [&](std::size_t, const std::vector<Run>& runs) -> Status {
    std::vector<double> lengths = {0};
    for (const std::string& text : runs.empty() ? std::span<const std::string>() : runs[0].row)
      lengths.push_back(lengths.back() + static_cast<double>(text.size()));
    for (const Run& run : runs)
      bytes += text_bytes(s, run, lengths);
    return {};
  }));
  constexpr double most = 1e18;
  TROUPE_TRY(out.charge(static_cast<std::size_t>(std::min(bytes, most))));
  auto* to = out.mutable_data<std::string>().data();
  return for_each_row(s, data, rows, [&](std::size_t, const std::vector<Run>& runs) -> Status {
    for (const Run& run : runs) {
      const double cost = 50 + static_cast<double>(std::min<Count>(run.width, 1 << 20)) * 10;
      c.parallel_for(run.count, cost, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          to[i] = join(s, run, i);
      });
      to += run.count;
    }
    return {};
  });
}

Status compute(KernelContext& c) {
  return dispatch(Indices{}, c.input(1).dtype(), [&]<class T>() { return join_rows<T>(c); });
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  TROUPE_TRY(c.set_output(0, PartialShape{-1}));
  return c.output_like(1, 1);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("StringNGrams")
      .input("data: string; data_splits: Tsplits")
      .output("ngrams: string; ngrams_splits: Tsplits")
      .attr("separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; "
            "pad_width: int; preserve_short_sequences: bool; Tsplits: {int32, int64} = DT_INT64")
      .shape_fn(infer)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("Texts of each row that follow one another, joined with `separator`, for every width.");
}

} // namespace troupe::strings_ngrams
