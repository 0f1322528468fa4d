// DecodeJSONExample. Expected bytes are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "kernels/parsing/testing/examples.hpp"
#include "tests/support/ops/op_cases.hpp"

namespace troupe::testing::of_json { // files of tests are compiled together
namespace {

/// An example with one feature, a, of this JSON.
std::string feature(const std::string& json) {
  return text(R"({"features":{"feature":{"a":)" + json + "}}}");
}

/// The message of that feature, whose list has these fields. TensorFlow does not pack numbers.
std::string list(int field, const MessageWriter& values) {
  return text(example({{"a", MessageWriter().message(field, values).take()}}));
}

TROUPE_OP_CASES(DecodeJSONExample) {
  const auto gives = [](std::string name, std::string json, std::string message) {
    return OpCase{
        .name = std::move(name), .inputs = {std::move(json)}, .outputs = {std::move(message)}};
  };
  const auto fails = [](std::string name, std::string json, std::string error) {
    return OpCase{.name = std::move(name),
                  .inputs = {std::move(json)},
                  .error = "Error while parsing JSON: " + error};
  };
  const auto ints = [](std::initializer_list<std::int64_t> values) {
    MessageWriter out;
    for (const std::int64_t value : values)
      out.signed_integer(1, value);
    return list(3, out);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  return {
      gives("numbers, also as texts",
            feature(R"({"int64List":{"value":[1,"2",-3,"-4",9223372036854775807,1.0,1e2,"1e2"]}})"),
            ints({1, 2, -3, -4, INT64_MAX, 1, 100, 100})),
      gives("the field's own name", feature(R"({"int64_list":{"value":[1]}})"), ints({1})),
      gives("one value without brackets", feature(R"({"int64List":{"value":5}})"), ints({5})),
      gives("nulls", feature(R"({"int64List":{"value":[null]}})"), ints({0})),
      gives("no values", feature(R"({"int64List":{"value":null}})"), ints({})),
      gives("floats", feature(R"({"floatList":{"value":[1,2.5,"3.5","-Infinity",-0.0,1e-60]}})"),
            list(2, MessageWriter()
                        .real(1, 1.0F)
                        .real(1, 2.5F)
                        .real(1, 3.5F)
                        .real(1, -infinity)
                        .real(1, -0.0F)
                        .real(1, 0.0F))),
      gives("bytes", feature(R"({"bytesList":{"value":["aGk=","aGk","_-8=","/+8=",""]}})"),
            list(1, MessageWriter()
                        .bytes(1, "hi")
                        .bytes(1, "hi")
                        .bytes(1, "\xff\xef")
                        .bytes(1, "\xff\xef")
                        .bytes(1, ""))),
      gives("a feature without a list", feature("{}"), text(example({{"a", ""}}))),
      gives("a list that is null", feature(R"({"int64List":null})"), text(example({{"a", ""}}))),
      gives("a feature that is null", feature("null"),
            text("\x0a\x05\x0a\x03\x0a\x01"
                 "a")),
      gives("features in their order", text(R"({"features":{"feature":{"b":{},"a":{}}}})"),
            text(example({{"b", ""}, {"a", ""}}))),
      gives("nothing", text("{}"), text("")),
      gives("no features", text(R"( {"features":{}} )"), text(std::string("\x0a\0", 2))),
      gives("null for features", text(R"({"features":null})"), text("")),
      gives("other characters", text(R"({"features":{"feature":{"\u00e9\ud83d\ude00":{}}}})"),
            text(example({{"\xc3\xa9\xf0\x9f\x98\x80", ""}}))),
      gives("several", texts({"{}", R"({"features":{"feature":{}}})"}),
            texts({"", std::string("\x0a\0", 2)})),
      fails("no JSON", text(""), ""),
      fails("an array", text("[]"), "unexpected array"),
      fails("a number", text("5"), "unexpected number"),
      fails("a number for features", text(R"({"features":5})"), "unexpected number"),
      fails("another field", text(R"({"feature":{}})"), "no such field: 'feature'"),
      fails("another list", feature(R"({"xList":{}})"), "no such field: 'xList'"),
      fails("another field of a list", feature(R"({"int64List":{"values":[1]}})"),
            "no such field: 'values'"),
      fails("two lists", feature(R"({"int64List":{"value":[1]},"floatList":{"value":[1]}})"),
            "'floatList' has already been set"),
      fails("one key twice", text(R"({"features":{"feature":{"a":{},"a":{}}}})"),
            "repeated map key: 'a'"),
      fails("a fraction", feature(R"({"int64List":{"value":[1.5]}})"),
            "expected integer, but JSON number had fractional part"),
      fails("a number that is too large",
            feature(R"({"int64List":{"value":[9223372036854775808]}})"),
            "JSON number out of range for int"),
      fails("no number", feature(R"({"int64List":{"value":["x"]}})"), "invalid number: 'x'"),
      fails("a truth", feature(R"({"int64List":{"value":[true]}})"), "unexpected true or false"),
      fails("a float that is too large", feature(R"({"floatList":{"value":[1e50]}})"),
            "float out of range"),
      fails("no base64", feature(R"({"bytesList":{"value":["aGk","a"]}})"), "corrupt base64"),
      fails("a letter that is none of base64", feature(R"({"bytesList":{"value":["!!"]}})"),
            "corrupt base64"),
      fails("a number for bytes", feature(R"({"bytesList":{"value":[1]}})"), "unexpected number"),
      fails("arrays in arrays", feature(R"({"int64List":{"value":[[1]]}})"), "unexpected array"),
      fails("something behind it", text(R"({"features":{}} x)"), ""),
      fails("brackets without an end", text(std::string(100'000, '[')), "unexpected array"),
  };
}

} // namespace
} // namespace troupe::testing::of_json
