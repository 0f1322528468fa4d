// Bitcast.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Bitcast) {
  return {
      {.name = "the same size",
       .inputs = {"f32[2] 1 -2"},
       .attrs = {{"type", DType::int32}},
       .outputs = {"i32[2] 1065353216 -1073741824"}},
      {.name = "smaller",
       .inputs = {"f32[1] 1"},
       .attrs = {{"type", DType::uint8}},
       .outputs = {"u8[1,4] 0 0 128 63"}},
      {.name = "larger",
       .inputs = {"u8[1,4] 0 0 128 63"},
       .attrs = {{"type", DType::float32}},
       .outputs = {"f32[1] 1"}},
      {.name = "complex",
       .inputs = {"f32[1,2] 1 2"},
       .attrs = {{"type", DType::complex64}},
       .outputs = {"c64[1] (1,2)"}},
      {.name = "a scalar",
       .inputs = {"i32[] 1"},
       .attrs = {{"type", DType::uint32}},
       .outputs = {"u32[] 1"}},
      {.name = "does not fit",
       .inputs = {"f32[3] 1 2 3"},
       .attrs = {{"type", DType::float64}},
       .error = "Cannot bitcast from 1 to 2"},
      {.name = "a scalar for two",
       .inputs = {"f32[] 1"},
       .attrs = {{"type", DType::float64}},
       .error = "Cannot bitcast from 1 to 2"},
  };
}

} // namespace
} // namespace troupe
