// AudioSpectrogram: expected values and texts are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe::spectrogram_test {
namespace {

using testing::OpCase;

constexpr auto waves =
    "f32[10,2] 0.0 0.7833269238471985 0.9738476276397705 0.42737987637519836 -0.4425204396247864 "
    "-0.9775301218032837 -0.7727645039558411 0.01681390032172203 0.7936678528785706 "
    "0.9698898196220398 0.41211849451065063 -0.45753589272499084 -0.9809362292289734 "
    "-0.7619835734367371 0.033623047173023224 0.8037844300270081 0.9656577706336975 "
    "0.396740585565567 -0.4724219739437103 -0.9840649962425232";

OpCase with(OpCase row, std::int64_t window, std::int64_t stride, bool squared = false) {
  row.attrs = {{"window_size", window}, {"stride", stride}, {"magnitude_squared", squared}};
  row.tolerance = 1e-6;
  row.tolerance_reason = "TensorFlow's transform adds in another order";
  return row;
}

} // namespace

TROUPE_OP_CASES(AudioSpectrogram) {
  return {
      {.name = "more magnitudes than there can be",
       .inputs = {"f32[0,4611686018427387904]"},
       .attrs = {{"window_size", std::int64_t{20}}, {"stride", std::int64_t{1}}},
       .error = "more than 2^63 - 1 elements"},
      with({.name = "magnitudes",
            .inputs = {waves},
            .outputs = {"f32[2,4,3] 0.34197888 0.97902393 0.543062 0.61334485 0.99040174 "
                        "0.97399086 0.75806546 0.9990248 "
                        "1.203807 0.7462583 0.99825615 1.1850573 0.7554332 0.99885243 1.199627 "
                        "0.7495288 0.9984679 1.1902509 "
                        "0.5888593 0.9891164 0.9351078 0.3066003 0.9780105 0.48688087"}},
           4, 2),
      with({.name = "squares, windows filled up to a power of two",
            .inputs = {waves},
            .outputs = {"f32[2,2,5] 0.23870453 0.6408456 1.5270199 1.0334827 0.055912375 "
                        "0.052293856 0.6592497 1.4794421 "
                        "1.3437834 0.9948882 0.14917453 0.64968485 1.5041691 1.182515 0.5068871 "
                        "0.24037088 0.640681 1.5274452 "
                        "1.0307088 0.047518555"}},
           5, 3, true),
      with({.name = "fewer samples than a window", .inputs = {waves}, .outputs = {"f32[2,0,9]"}},
           12, 1),
      with({.name = "no channels", .inputs = {"f32[10,0]"}, .outputs = {"f32[0,4,3]"}}, 4, 2),
      with({.name = "a number that is none stays in its windows",
            .inputs = {"f32[4,1] nan 0 0 0"},
            .outputs = {"f32[1,2,2] nan nan 0 0"}},
           2, 2),
      with({.name = "one dimension",
            .inputs = {"f32[4] 0 0 0 0"},
            .error = "Shape must be rank 2 but is rank 1"},
           4, 2),
      with(
          {.name = "a window of one", .inputs = {waves}, .error = "window size must be > 1, got 1"},
          1, 1),
      with({.name = "a window beyond all samples",
            .inputs = {waves},
            .error = "window size must be below 2^30, got 9223372036854775807"},
           INT64_MAX, 1),
      with({.name = "no stride",
            .inputs = {waves},
            .error = "stride must be strictly positive, got 0"},
           4, 0),
      with({.name = "a negative stride",
            .inputs = {waves},
            .error = "stride must be strictly positive, got -2"},
           4, -2),
  };
}

} // namespace troupe::spectrogram_test
