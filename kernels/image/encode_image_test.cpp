// Cases of EncodePng and EncodeJpeg; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(EncodePng) {
  return {
      {
          .name = "a level beyond zlib",
          .inputs = {"u8[1,1,1] 1"},
          .attrs = {{"compression", std::int64_t{10}}},
          .error = "compression should be in [-1,9], got 10",
      },
      {
          .name = "five channels",
          .inputs = {"u8[1,1,5] 1"},
          .error = "image must have 1, 2, 3, or 4 channels, got 5",
      },
      {
          .name = "a matrix",
          .inputs = {"u8[2,2] 1"},
          .error = "rank 3",
      },
      {
          .name = "no pixels",
          .inputs = {"u8[0,2,3]"},
          .error = "PNG encoding failed",
      },
      {
          .name = "no pictures",
          .inputs = {"u8[0,2,2,3]"},
          .outputs = {"str[0]"},
      },
      {
          .name = "pictures",
          .inputs = {"u8[2,2,2,3] 5"},
          .outputs = {"?"},
      },
      {
          .name = "16 bits",
          .inputs = {"u16[2,2,4] 5"},
          .outputs = {"?"},
      },
  };
}

TROUPE_OP_CASES(EncodeJpeg) {
  return {
      {
          .name = "color",
          .inputs = {"u8[2,2,3] 5"},
          .outputs = {"?"},
      },
      {
          .name = "four channels",
          .inputs = {"u8[1,1,4] 1"},
          .error = "image must have 1 or 3 channels, got ",
      },
      {
          .name = "gray that is none",
          .inputs = {"u8[1,1,3] 1"},
          .attrs = {{"format", std::string("grayscale")}},
          .error = "format grayscale expects 1 channels, got ",
      },
      {
          .name = "quality beyond all",
          .inputs = {"u8[1,1,3] 1"},
          .attrs = {{"quality", std::int64_t{101}}},
          .error = "quality must be in [0,100], got 101",
      },
      {
          .name = "no pixels",
          .inputs = {"u8[0,2,3]"},
          .error = "JPEG encoding failed",
      },
      {
          .name = "pictures",
          .inputs = {"u8[1,2,2,3] 1"},
          .error = "rank 3",
      },
      {
          .name = "more pixels in a row than JPEG has",
          .inputs = {"u8[1,70000,1] 1"},
          .error = "JPEG encoding failed",
      },
  };
}

TROUPE_OP_CASES(EncodeJpegVariableQuality) {
  return {
      {
          .name = "gray",
          .inputs = {"u8[2,2,1] 5", "i32[] 50"},
          .outputs = {"?"},
      },
      {
          .name = "quality below all",
          .inputs = {"u8[2,2,1] 5", "i32[] -1"},
          .error = "quality must be in [0,100], got -1",
      },
      {
          .name = "two qualities",
          .inputs = {"u8[2,2,1] 5", "i32[2] 1"},
          .error = "rank 0",
      },
  };
}

} // namespace
} // namespace troupe
