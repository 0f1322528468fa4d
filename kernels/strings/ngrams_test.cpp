// StringNGrams. Expected values are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;
using Widths = std::vector<std::int64_t>;

Attrs ngrams(Widths widths, std::int64_t pad_width = -1, bool preserve_short = false) {
  return {{"separator", std::string("|")}, {"ngram_widths", std::move(widths)},
          {"left_pad", std::string("L")},  {"right_pad", std::string("R")},
          {"pad_width", pad_width},        {"preserve_short_sequences", preserve_short}};
}

TROUPE_OP_CASES(StringNGrams) {
  const std::string five = "str[5] \"a\" \"b\" \"c\" \"d\" \"e\"", rows = "i64[4] 0 4 5 5";
  const std::string two = "str[2] \"a\" \"b\"", one = "str[1] \"a\"";
  constexpr std::int64_t most = 2147483647;
  return {
      {.name = "one row",
       .inputs = {"str[4] \"a\" \"b\" \"c\" \"d\"", "i64[2] 0 4"},
       .attrs = ngrams({3}),
       .outputs = {"str[6] \"L|L|a\" \"L|a|b\" \"a|b|c\" \"b|c|d\" \"c|d|R\" \"d|R|R\"",
                   "i64[2] 0 6"}},
      {.name = "rows, one of them empty",
       .inputs = {five, "i32[4] 0 4 5 5"},
       .attrs = ngrams({3}),
       .outputs = {"str[11] \"L|L|a\" \"L|a|b\" \"a|b|c\" \"b|c|d\" \"c|d|R\" \"d|R|R\" \"L|L|e\" "
                   "\"L|e|R\" \"e|R|R\" \"L|L|R\" \"L|R|R\"",
                   "i32[4] 0 6 9 11"}},
      {.name = "short rows are kept",
       .inputs = {five, rows},
       .attrs = ngrams({3}, 0, true),
       .outputs = {"str[3] \"a|b|c\" \"b|c|d\" \"e\"", "i64[4] 0 2 3 3"}},
      {.name = "two widths and a padding",
       .inputs = {five, rows},
       .attrs = ngrams({2, 4}, 1),
       .outputs = {"str[11] \"L|a\" \"a|b\" \"b|c\" \"c|d\" \"d|R\" \"L|a|b|c\" \"a|b|c|d\" "
                   "\"b|c|d|R\" \"L|e\" \"e|R\" \"L|R\"",
                   "i64[4] 0 8 10 11"}},
      {.name = "a padding wider than the n-grams",
       .inputs = {two, "i64[2] 0 2"},
       .attrs = ngrams({2}, most),
       .outputs = {"str[3] \"L|a\" \"a|b\" \"b|R\"", "i64[2] 0 3"}},
      {.name = "no n-gram fits",
       .inputs = {one, "i64[2] 0 1"},
       .attrs = ngrams({6}, 1),
       .outputs = {"str[0]", "i64[2] 0 0"}},
      {.name = "no widths",
       .inputs = {one, "i64[2] 0 1"},
       .attrs = ngrams({}),
       .outputs = {"str[0]", "i64[2] 0 0"}},
      {.name = "no widths, rows are kept",
       .inputs = {one, "i64[2] 0 1"},
       .attrs = ngrams({}, 2, true),
       .outputs = {"str[1] \"L|L|a|R|R\"", "i64[2] 0 1"}},
      {.name = "no texts",
       .inputs = {"str[0]", "i64[3] 0 0 0"},
       .attrs = ngrams({3}),
       .outputs = {"str[0]", "i64[3] 0 0 0"}},
      {.name = "no rows",
       .inputs = {"str[0]", "i64[0]"},
       .attrs = ngrams({3}),
       .outputs = {"str[0]", "i64[0]"}},
      {.name = "a width of none",
       .inputs = {one, "i64[2] 0 1"},
       .attrs = ngrams({0}),
       .error = "ngram_widths must contain positive values"},
      {.name = "rows are kept without a padding",
       .inputs = {one, "i64[2] 0 1"},
       .attrs = ngrams({}, -1, true),
       .error =
           "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are "
           "not provided, got -1"},
      {.name = "a width beyond counting",
       .inputs = {two, "i64[2] 0 2"},
       .attrs = ngrams({most}),
       .error = "Pad width could lead to integer overflow, got pad_width = 2147483646"},
      {.name = "a split that is not 0",
       .inputs = {one, "i64[2] 1 1"},
       .attrs = ngrams({3}),
       .error = "First split value must be 0, got 1"},
      {.name = "a split beyond the texts",
       .inputs = {two, "i64[2] 0 3"},
       .attrs = ngrams({3}),
       .error = "Invalid split value 3, must be in [0, 2]"},
      {.name = "splits that fall",
       .inputs = {two, "i64[3] 0 2 1"},
       .attrs = ngrams({3}),
       .error = "Invalid split value 1, must be in [2, 2]"},
      {.name = "texts in no row",
       .inputs = {two, "i64[2] 0 1"},
       .attrs = ngrams({3}),
       .error = "Last split value must be data size. Expected 2, got 1"},
  };
}

TROUPE_OP_CASES(UnicodeScript) {
  return {
      {.name = "Latin, Cyrillic, Han, Hiragana, none of one script",
       .inputs = {"i32[2,3] 65 1073 20013 12354 128512 32"},
       .outputs = {"i32[2,3] 25 8 17 20 0 0"}},
      {.name = "no characters",
       .inputs = {"i32[5] -1 1114112 1114111 55296 2147483647"},
       .outputs = {"i32[5] -1 -1 103 103 -1"}},
      {.name = "a scalar", .inputs = {"i32[] 65"}, .outputs = {"i32[] 25"}},
      {.name = "nothing", .inputs = {"i32[0]"}, .outputs = {"i32[0]"}},
  };
}

} // namespace
} // namespace troupe
