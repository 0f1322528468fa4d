// Cases of DataFormatDimMap and DataFormatVecPermute; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(DataFormatVecPermute) {
  return {
      {
          .name = "four numbers",
          .inputs = {"i32[4] 1 2 3 4"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i32[4] 1 4 2 3"},
      },
      {
          .name = "of 64 bits",
          .inputs = {"i64[4] 1 2 3 4"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i64[4] 1 4 2 3"},
      },
      {
          .name = "the spatial ones alone",
          .inputs = {"i32[2] 1 2"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i32[2] 1 2"},
      },
      {
          .name = "another order",
          .inputs = {"i32[4] 1 2 3 4"},
          .attrs = {{"src_format", std::string("HWNC")}, {"dst_format", std::string("NHWC")}},
          .outputs = {"i32[4] 3 1 2 4"},
      },
      {
          .name = "rows and columns change",
          .inputs = {"i32[2] 1 2"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NWHC")}},
          .outputs = {"i32[2] 2 1"},
      },
      {
          .name = "volumes",
          .inputs = {"i32[5] 1 2 3 4 5"},
          .attrs = {{"src_format", std::string("NDHWC")}, {"dst_format", std::string("NCDHW")}},
          .outputs = {"i32[5] 1 5 2 3 4"},
      },
      {
          .name = "the spatial ones of volumes",
          .inputs = {"i32[3] 1 2 3"},
          .attrs = {{"src_format", std::string("NDHWC")}, {"dst_format", std::string("NCDHW")}},
          .outputs = {"i32[3] 1 2 3"},
      },
      {
          .name = "pairs",
          .inputs = {"i32[4,2] 0 1 2 3 4 5 6 7"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i32[4,2] 0 1 6 7 2 3 4 5"},
      },
      {
          .name = "three numbers",
          .inputs = {"i32[3] 1 2 3"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .error = "1D input must be of size 2 or 4, but got shape [3]",
      },
      {
          .name = "triples",
          .inputs = {"i32[4,3] 0"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .error = "Second dimension of 2D input must be of size 2, but got shape [4,3]",
      },
      {
          .name = "a scalar",
          .inputs = {"i32[] 1"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .error = "input must be a vector or 2D tensor, but got shape []",
      },
      {
          .name = "no permutation",
          .inputs = {"i32[4] 1 2 3 4"},
          .attrs = {{"src_format", std::string("1234")}, {"dst_format", std::string("1253")}},
          .error = "Destination and source format must determine a permutation, got 1234 and 1253",
      },
      {
          .name = "spatial dimensions of unknown names",
          .inputs = {"i32[2,2] 0 1 2 3"},
          .attrs = {{"src_format", std::string("1234")}, {"dst_format", std::string("4321")}},
          .error = "Format specifier must contain H and W for 2D case",
      },
      {
          .name = "a short format",
          .inputs = {"i32[4] 1 2 3 4"},
          .attrs = {{"src_format", std::string("12345")}, {"dst_format", std::string("125")}},
          .error = "Destination format must be of length 4 or 5, received dst_format = 125",
      },
  };
}

TROUPE_OP_CASES(DataFormatDimMap) {
  return {
      {
          .name = "positive and negative ones",
          .inputs = {"i32[4] -1 0 3 -4"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i32[4] 1 0 1 0"},
      },
      {
          .name = "a matrix of 64 bits",
          .inputs = {"i64[1,2] 2 1"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("NCHW")}},
          .outputs = {"i64[1,2] 3 2"},
      },
      {
          .name = "volumes",
          .inputs = {"i32[2] 4 0"},
          .attrs = {{"src_format", std::string("NDHWC")}, {"dst_format", std::string("NCDHW")}},
          .outputs = {"i32[2] 1 0"},
      },
      {
          .name = "no permutation",
          .inputs = {"i32[2] 2 0"},
          .attrs = {{"src_format", std::string("NHWC")}, {"dst_format", std::string("HWNX")}},
          .error = "Destination and source format must determine a permutation, got NHWC and HWNX",
      },
      {
          .name = "a short format",
          .inputs = {"i32[2] 2 0"},
          .attrs = {{"src_format", std::string("NHW")}, {"dst_format", std::string("HWN")}},
          .error = "Source format must be of length 4 or 5, received src_format = NHW",
      },
  };
}

} // namespace
} // namespace troupe
