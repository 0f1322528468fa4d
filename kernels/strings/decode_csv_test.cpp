// DecodeCSV.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using namespace std::string_literals;
using Dtypes = std::vector<DType>;

TROUPE_OP_CASES(DecodeCSV) {
  const std::pair<std::string, AttrValue> text{"OUT_TYPE", Dtypes{DType::string}},
      texts{"OUT_TYPE", Dtypes{DType::string, DType::string}},
      number{"OUT_TYPE", Dtypes{DType::int32}};
  const std::string none = "str[0]";
  return {
      {.name = "every dtype",
       .inputs = {"str[2] \"1,2,3.5,4.5,a\" \"-1,-2,nan,inf,\"", "i32[0]", "i64[0]", "f32[0]",
                  "f64[0]", "str[] \"x\""},
       .attrs = {{"OUT_TYPE", Dtypes{DType::int32, DType::int64, DType::float32, DType::float64,
                                     DType::string}}},
       .outputs = {"i32[2] 1 -1", "i64[2] 2 -2", "f32[2] 3.5 nan", "f64[2] 4.5 inf",
                   "str[2] \"a\" \"x\""}},
      {.name = "quotes",
       .inputs = {"str[2] \"\\\"a,\\\"\\\"b\\\",c\" \"d,\\\"\\n\\\"\"", none, none},
       .attrs = {texts},
       .outputs = {"str[2] \"a,\\\"b\" \"d\"", "str[2] \"c\" \"\\n\""}},
      {.name = "no quotes",
       .inputs = {"str[] \"\\\"a\\\"\"", none},
       .attrs = {text, {"use_quote_delim", false}},
       .outputs = {"str[] \"\\\"a\\\"\""}},
      {.name = "another separator, a word for nothing",
       .inputs = {"str[1] \"NA 2\"", "i32[1] 7", "i32[0]"},
       .attrs = {{"OUT_TYPE", Dtypes{DType::int32, DType::int32}},
                 {"field_delim", " "s},
                 {"na_value", "NA"s}},
       .outputs = {"i32[1] 7", "i32[1] 2"}},
      {.name = "two of four columns",
       .inputs = {"str[2] \"a,b,c,d\" \"e,f,g,h\"", none, none},
       .attrs = {texts, {"select_cols", std::vector<std::int64_t>{1, 3}}},
       .outputs = {"str[2] \"b\" \"f\"", "str[2] \"d\" \"h\""}},
      {.name = "no records", .inputs = {"str[0]", none}, .attrs = {text}, .outputs = {"str[0]"}},
      {.name = "a line's end",
       .inputs = {"str[1] \"a,b\\n\"", none, none},
       .attrs = {texts},
       .error = "Unquoted fields cannot have quotes/CRLFs inside"},
      {.name = "a field that is missing",
       .inputs = {"str[1] \",b\"", none, none},
       .attrs = {texts},
       .error = "Field 0 is required but missing in record 0!"},
      {.name = "a field too many",
       .inputs = {"str[1] \"a,b\"", none},
       .attrs = {text},
       .error = "Expect 1 fields but have 2 in record 0"},
      {.name = "no number",
       .inputs = {"str[2] \"1\" \"x\"", "i32[0]"},
       .attrs = {number},
       .error = "Field 0 in record 1 is not a valid int32: x"},
      {.name = "a quote within",
       .inputs = {"str[1] \"a\\\"b\"", none},
       .attrs = {text},
       .error = "Unquoted fields cannot have quotes/CRLFs inside"},
      {.name = "a quote that is not escaped",
       .inputs = {"str[1] \"\\\"a\\\"b\\\"\"", none},
       .attrs = {text},
       .error = "Quote inside a string has to be escaped by another quote"},
      {.name = "no quote at the end",
       .inputs = {"str[1] \"\\\"a\"", none},
       .attrs = {text},
       .error = "Quoted field has to end with quote followed by delim or end"},
      {.name = "two defaults",
       .inputs = {"str[1] \"1\"", "i32[2] 1 2"},
       .attrs = {number},
       .error = "efault"},
      {.name = "columns in no order",
       .inputs = {"str[1] \"a,b\"", none, none},
       .attrs = {texts, {"select_cols", std::vector<std::int64_t>{1, 0}}},
       .error = "select_cols should be strictly increasing indices"},
      {.name = "a long separator",
       .inputs = {"str[1] \"a\"", none},
       .attrs = {text, {"field_delim", "::"s}},
       .error = "field_delim should be only 1 char"},
  };
}

} // namespace
} // namespace troupe
