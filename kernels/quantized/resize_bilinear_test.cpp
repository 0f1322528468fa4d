// Cases of QuantizedResizeBilinear; values are those of TensorFlow 2.21.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(QuantizedResizeBilinear) {
  return {
      {.name = "quint8",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 3 5", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[1,3,5,1] 0 102 203 255 255 66 84 102 110 110 100 75 50 37 37", "f32[] 0",
                   "f32[] 1"}},
      {.name = "corners aligned",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 3 5", "f32[] 0", "f32[] 1"},
       .attrs = {{"align_corners", true}},
       .outputs = {"qu8[1,3,5,1] 0 64 128 191 255 50 74 98 122 146 100 84 69 53 37", "f32[] 0",
                   "f32[] 1"}},
      {.name = "half pixels",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 3 5", "f32[] 0", "f32[] 1"},
       .attrs = {{"half_pixel_centers", true}},
       .outputs = {"qu8[1,3,5,1] 0 24 128 229 255 50 59 98 137 146 100 94 69 43 37", "f32[] 0",
                   "f32[] 1"}},
      {.name = "both",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 3 5", "f32[] 0", "f32[] 1"},
       .attrs = {{"align_corners", true}, {"half_pixel_centers", true}},
       .outputs = {"qu8[1,3,5,1] 0 0 32 96 159 25 25 47 91 135 75 75 77 81 86", "f32[] 0",
                   "f32[] 1"}},
      {.name = "smaller",
       .inputs = {"qu8[1,2,4,1] 1 2 3 4 5 6 7 80", "i32[2] 1 3", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[1,1,3,1] 1 2 4", "f32[] 0", "f32[] 1"}},
      {.name = "qint32",
       .inputs = {"qi32[1,2,2,1] -2147483648 2000000000 1000 -77", "i32[2] 3 5", "f32[] -1",
                  "f32[] 1"},
       .outputs = {"qi32[1,3,5,1] -2147483647 -488490163 1170503320 2000000000 2000000000 "
                   "-715827172 -162829665 390167843 666666576 666666576 1000 569 138 -76 -76",
                   "f32[] -1", "f32[] 1"}},
      {.name = "qint32, corners aligned",
       .inputs = {"qi32[1,2,2,1] -2147483648 2000000000 1000 -77", "i32[2] 3 5", "f32[] -1",
                  "f32[] 1"},
       .attrs = {{"align_corners", true}},
       .outputs = {"qi32[1,3,5,1] -2147483647 -1110612735 -73741823 963129088 2000000000 "
                   "-1073741323 -555306002 -36870681 481564641 999999962 1000 731 462 192 -76",
                   "f32[] -1", "f32[] 1"}},
      {.name = "qint32 as it is",
       .inputs = {"qi32[1,1,2,1] 2147483647 1234567891", "i32[2] 1 2", "f32[] -1", "f32[] 1"},
       .outputs = {"qi32[1,1,2,1] 2147483647 1234567891", "f32[] -1", "f32[] 1"}},
      {.name = "float",
       .inputs = {"f32[1,2,2,1] 0 10 -3 5", "i32[2] 3 5", "f32[] 0", "f32[] 1"},
       .outputs = {"f32[1,3,5,1] 0 4 8 10 10 -2 1.4666667 4.9333334 6.6666665 6.6666665 -3 "
                   "0.20000005 3.4 5 5",
                   "f32[] 0", "f32[] 1"}},
      {.name = "several channels",
       .inputs = {"qu8[2,1,2,2] 1 2 3 4 5 6 7 8", "i32[2] 2 3", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[2,2,3,2] 1 2 2 3 3 4 1 2 2 3 3 4 5 6 6 7 7 8 5 6 6 7 7 8", "f32[] 0",
                   "f32[] 1"}},
      {.name = "bounds in order",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 1 1", "f32[] 1", "f32[] 0"},
       .outputs = {"qu8[1,1,1,1] 0", "f32[] 1", "f32[] 0"}},
      {.name = "no images",
       .inputs = {"qu8[0,2,2,1]", "i32[2] 1 1", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[0,1,1,1]", "f32[] 0", "f32[] 1"}},
      {.name = "no images, of any height",
       .inputs = {"qu8[0,2,2,1]", "i32[2] 2147483647 1", "f32[] 0", "f32[] 1"},
       .outputs = {"qu8[0,2147483647,1,1]", "f32[] 0", "f32[] 1"}},
      {.name = "images of no rows",
       .inputs = {"qu8[1,0,2,1]", "i32[2] 1 1", "f32[] 0", "f32[] 1"},
       .error = "input image must be of non-zero size"},
      {.name = "no channels",
       .inputs = {"qu8[1,2,2,0]", "i32[2] 1 1", "f32[] 0", "f32[] 1"},
       .error = "image must have at least one channel"},
      {.name = "rank 3",
       .inputs = {"qu8[2,2,1] 1", "i32[2] 1 1", "f32[] 0", "f32[] 1"},
       .error = "input must be 4-dimensional[2,2,1]"},
      {.name = "three sizes",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[3] 1", "f32[] 0", "f32[] 1"},
       .error = "shape_t must have two elements[3]"},
      {.name = "no rows wanted",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 0 1", "f32[] 0", "f32[] 1"},
       .error = "output dimensions must be positive"},
      {.name = "a bound in a vector",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 1 1", "f32[1] 0", "f32[] 1"},
       .error = "min must be a scalar"},
      {.name = "two bounds",
       .inputs = {"qu8[1,2,2,1] 0 255 100 37", "i32[2] 1 1", "f32[] 0", "f32[2] 1"},
       .error = "max must be a scalar"},
  };
}

} // namespace
} // namespace troupe
