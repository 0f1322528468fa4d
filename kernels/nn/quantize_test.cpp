// Cases of QuantizeV2 and Dequantize; numbers are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

using Attrs = std::vector<std::pair<std::string, AttrValue>>;
const std::string numbers = "f32[9] -1.5 -1 -0.25 0 0.3 0.5 1 2 inf";
const std::string min_combined = "MIN_COMBINED", min_first = "MIN_FIRST", scaled = "SCALED";

Attrs in(DType dtype, const std::string& mode) {
  return {{"T", dtype}, {"mode", mode}};
}

TROUPE_OP_CASES(QuantizeV2) {
  const std::vector<std::string> inputs = {numbers, "f32[] -1", "f32[] 1"};
  const std::vector<std::string> pair = {"f32[2] 1 2", "f32[] 3", "f32[] 3"};
  return {
      {.name = "qint8",
       .inputs = inputs,
       .attrs = in(DType::qint8, min_combined),
       .outputs = {"qi8[9] -128 -128 -32 -1 38 63 127 127 127", "f32[] -1", "f32[] 1"}},
      {.name = "qint8 with zero on a step",
       .inputs = inputs,
       .attrs = in(DType::qint8, min_first),
       .outputs = {"qi8[9] -128 -128 -32 0 38 64 127 127 127", "f32[] -1", "f32[] 1"}},
      {.name = "qint8 by a scale",
       .inputs = inputs,
       .attrs = in(DType::qint8, scaled),
       .outputs = {"qi8[9] -128 -127 -32 0 38 64 127 127 127", "f32[] -1.00787401", "f32[] 1"}},
      {.name = "halves to even, symmetric",
       .inputs = inputs,
       .attrs = {{"T", DType::qint8},
                 {"mode", scaled},
                 {"round_mode", std::string("HALF_TO_EVEN")},
                 {"narrow_range", true}},
       .outputs = {"qi8[9] -127 -127 -32 0 38 64 127 127 127", "f32[] -1", "f32[] 1"}},
      {.name = "quint8",
       .inputs = inputs,
       .attrs = in(DType::quint8, min_combined),
       .outputs = {"qu8[9] 0 0 96 128 166 191 255 255 255", "f32[] -1", "f32[] 1"}},
      {.name = "quint8 with zero on a step",
       .inputs = inputs,
       .attrs = in(DType::quint8, min_first),
       .outputs = {"qu8[9] 0 0 96 128 166 192 255 255 255", "f32[] -1", "f32[] 1"}},
      {.name = "quint8 by a scale",
       .inputs = inputs,
       .attrs = in(DType::quint8, scaled),
       .outputs = {"qu8[9] 0 0 0 0 77 128 255 255 255", "f32[] 0", "f32[] 1"}},
      {.name = "qint16",
       .inputs = inputs,
       .attrs = in(DType::qint16, min_combined),
       .outputs = {"qi16[9] -32768 -32768 -8192 -1 9830 16383 32767 32767 32767", "f32[] -1",
                   "f32[] 1"}},
      {.name = "quint16",
       .inputs = inputs,
       .attrs = in(DType::quint16, min_first),
       .outputs = {"qu16[9] 0 0 24576 32768 42598 49152 65535 65535 65535", "f32[] -1", "f32[] 1"}},
      {.name = "qint32, of which floats reach almost the end",
       .inputs = inputs,
       .attrs = in(DType::qint32, min_first),
       .outputs = {"qi32[9] -2147483648 -2147483648 -536870912 0 644245120 1073741824 2147483520 "
                   "2147483520 2147483520",
                   "f32[] -1", "f32[] 1"}},
      {.name = "qint32 of all modes",
       .inputs = inputs,
       .attrs = in(DType::qint32, scaled),
       .outputs = {"qi32[9] -2147483648 -2147483648 -536870912 0 644245120 1073741824 2147483520 "
                   "2147483520 2147483520",
                   "f32[] -1", "f32[] 1"}},
      {.name = "no number",
       .inputs = {"f32[1] nan", "f32[] -1", "f32[] 1"},
       .attrs = in(DType::qint8, scaled),
       .outputs = {"?", "f32[] -1.00787401", "f32[] 1"}},
      {.name = "a range for each row",
       .inputs = {"f32[2,3] 1 2 3 1 2 3", "f32[2] 0 -1", "f32[2] 4 4"},
       .attrs = {{"T", DType::quint8}, {"axis", std::int64_t{0}}},
       .outputs = {"qu8[2,3] 64 128 191 102 153 204", "f32[2] 0 -1", "f32[2] 4 4"}},
      {.name = "a range that begins above zero",
       .inputs = pair,
       .attrs = in(DType::quint8, min_combined),
       .outputs = {"qu8[2] 85 170", "f32[] 0", "f32[] 3"}},
      {.name = "nothing",
       .inputs = {"f32[0]", "f32[] 3", "f32[] 3"},
       .attrs = in(DType::quint8, min_combined),
       .outputs = {"qu8[0]", "f32[] 0", "f32[] 3"}},
      {.name = "a range that ends before it begins",
       .inputs = {"f32[2] 1 2", "f32[] 2", "f32[] 1"},
       .attrs = in(DType::quint8, min_combined),
       .error = "input_max_range must be larger than input_min_range."},
      {.name = "a range too few",
       .inputs = {"f32[2] 1 2", "f32[1] 0", "f32[1] 1"},
       .attrs = {{"T", DType::quint8}, {"axis", std::int64_t{0}}},
       .error =
           "If axis is specified, min_range must be a 1-D tensor whose size matches the axis "
           "dimension of the input and output tensors, but min_range is a 1-D tensor of size 1 "
           "and input's axis dimension is of size 2"},
      {.name = "a range too many",
       .inputs = {"f32[2] 1 2", "f32[2] 0 0", "f32[] 1"},
       .attrs = in(DType::quint8, min_combined),
       .error = "If axis is not specified, min_range must contain a single float element, but it "
                "contains 2 elements"},
      {.name = "no such axis",
       .inputs = {"f32[2] 1 2", "f32[1] 0", "f32[1] 1"},
       .attrs = {{"T", DType::quint8}, {"axis", std::int64_t{1}}},
       .error = "Axis must be less than input dimension(1), got 1"},
      {.name = "halves to even of a mode that cannot",
       .inputs = pair,
       .attrs = {{"T", DType::qint8}, {"round_mode", std::string("HALF_TO_EVEN")}},
       .error = "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is "
                "'MIN_COMBINED'."},
  };
}

TROUPE_OP_CASES(Dequantize) {
  const std::string rows = "qu8[2,3] 64 128 191 102 153 204";
  const Attrs by_row = {{"axis", std::int64_t{0}}};
  const auto mode = [](const std::string& name) { return Attrs{{"mode", name}}; };
  const auto of = [](std::string input) {
    return std::vector<std::string>{std::move(input), "f32[] -1", "f32[] 1"};
  };
  return {
      {.name = "an axis beyond all",
       .inputs = of("qi8[2] 1 2"),
       .attrs = {{"axis", std::int64_t{1} << 31}},
       .error = "Axis must be less than input dimension(1), got 2147483648"},
      {.name = "qint8",
       .inputs = of("qi8[5] -128 -32 -1 63 127"),
       .outputs = {"f32[5] -1 -0.247058749 -0.00392150879 0.498039246 1"}},
      {.name = "qint8 with zero on a step",
       .inputs = of("qi8[5] -128 -32 0 64 127"),
       .attrs = mode(min_first),
       .outputs = {"f32[5] -0.996078491 -0.24313727 0.00784313679 0.509803951 1.00392163"}},
      {.name = "qint8 by a scale",
       .inputs = of("qi8[5] -128 -127 0 38 127"),
       .attrs = mode(scaled),
       .outputs = {"f32[5] -1.00787401 -1 0 0.299212605 1"}},
      {.name = "symmetric",
       .inputs = of("qi8[3] -127 38 127"),
       .attrs = {{"mode", scaled}, {"narrow_range", true}},
       .outputs = {"f32[3] -1 0.299212605 1"}},
      {.name = "quint8", .inputs = of("qu8[3] 0 96 255"), .outputs = {"f32[3] -1 -0.247058749 1"}},
      {.name = "quint8 by a scale",
       .inputs = of("qu8[3] 0 77 255"),
       .attrs = mode(scaled),
       .outputs = {"f32[3] 0 0.301960796 1"}},
      {.name = "qint16",
       .inputs = of("qi16[3] -32768 -1 16384"),
       .attrs = mode(min_first),
       .outputs = {"f32[3] -1.00001526 -3.05175781e-05 0.500007629"}},
      {.name = "quint16",
       .inputs = of("qu16[3] 0 24576 65535"),
       .outputs = {"f32[3] -1 -0.249988556 1"}},
      {.name = "qint32",
       .inputs = of("qi32[3] -2147483648 644245120 2147483520"),
       .attrs = mode(min_first),
       .outputs = {"f32[3] -1 0.300000012 0.99999994"}},
      {.name = "a range for each row",
       .inputs = {rows, "f32[2] 0 -1", "f32[2] 4 4"},
       .attrs = by_row,
       .outputs = {"f32[2,3] 1.00392163 2.00784326 2.99607849 1 2 3"}},
      {.name = "to bfloat16",
       .inputs = {rows, "f32[2] 0 -1", "f32[2] 4 4"},
       .attrs = {by_row[0], {"dtype", DType::bfloat16}},
       .outputs = {"bf16[2,3] 1.0078125 2.015625 3 1 2 3"}},
      {.name = "nothing", .inputs = of("qu8[0]"), .outputs = {"f32[0]"}},
      {.name = "a range too few",
       .inputs = {"qu8[2] 1 2", "f32[1] 0", "f32[1] 1"},
       .attrs = by_row,
       .error =
           "input_min_tensor must have as many elements as input on the dequantization axis (0), "
           "got 1, expected 2"},
      {.name = "no such axis",
       .inputs = {"qu8[2] 1 2", "f32[1] 0", "f32[1] 1"},
       .attrs = {{"axis", std::int64_t{1}}},
       .error = "Axis must be less than input dimension(1), got 1"},
      {.name = "zero on a step for each row",
       .inputs = {rows, "f32[2] 0 -1", "f32[2] 4 4"},
       .attrs = {by_row[0], {"mode", min_first}},
       .error = "MIN_FIRST mode is not implemented with axis != -1."},
      {.name = "bfloat16 of a mode that gives floats",
       .inputs = {"qu8[2] 1 2", "f32[] 0", "f32[] 1"},
       .attrs = {{"mode", scaled}, {"dtype", DType::bfloat16}},
       .error = "When output type is bfloat16, Mode string must be 'MIN_COMBINED', is 'SCALED'"},
  };
}

} // namespace
} // namespace troupe
