#include "core/base/json.hpp"

#include <limits>

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("json: commas and escapes come by themselves") {
  JsonWriter w;
  w.open('{')
      .key("a")
      .value(1)
      .key("b")
      .open('[')
      .value("x\"\\\n")
      .value(true)
      .value(1.5)
      .open('[')
      .close(']')
      .close(']')
      .key("c")
      .open('{')
      .close('}')
      .close('}');
  CHECK(w.text() == R"({"a":1,"b":["x\"\\\u000a",true,1.5,[]],"c":{}})");
}

TEST_CASE("json: what JSON cannot hold is repaired, so that every reader takes the text") {
  JsonWriter w;
  w.open('[')
      .value("a\xff é \xc3")
      .value(std::numeric_limits<double>::quiet_NaN())
      .value(-std::numeric_limits<double>::infinity())
      .value(std::numeric_limits<std::int64_t>::min())
      .value(1e300)
      .close(']');
  CHECK(w.text() == "[\"a\\ufffd é \\ufffd\",null,null,-9223372036854775808,1e+300]");
}

} // namespace troupe
