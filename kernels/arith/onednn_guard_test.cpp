// Compiled code of oneDNN stays in the memory that it was given: scratchpads end at a forbidden
// page, and so do inputs and outputs. Run for each instruction set that oneDNN tells apart
// (CMakeLists.txt).
#include "kernels/arith/conv.hpp"
#include "kernels/arith/fused_conv.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace troupe::arith::onednn_guard_test {
namespace {

/// `count` floats that end exactly where a forbidden page begins.
class GuardedFloats {
public:
  GuardedFloats(int64_t count, unsigned seed) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = static_cast<size_t>(count) * sizeof(float);
    mapped_ = (bytes + page - 1) / page * page + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    base_ = static_cast<char*>(memory);
    REQUIRE(mprotect(base_ + mapped_ - page, page, PROT_NONE) == 0);
    data_ = reinterpret_cast<float*>(base_ + mapped_ - page - bytes);
    std::memcpy(data_, random_values<float>(count, -1, 1, seed).data(), bytes);
  }
  ~GuardedFloats() { munmap(base_, mapped_); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  float* data() const { return data_; }
  int64_t size() const { return count_; }

private:
  int64_t count_;
  size_t mapped_ = 0;
  char* base_ = nullptr;
  float* data_ = nullptr;
};

// What to say when compiled code ends the program: doctest tells nothing of what was captured.
char in_progress[256];

class TellsShape {
public:
  TellsShape() { before_ = std::signal(SIGSEGV, tell); }
  ~TellsShape() { std::signal(SIGSEGV, before_); }

private:
  static void tell(int) {
    [[maybe_unused]] auto written = write(STDERR_FILENO, in_progress, std::strlen(in_progress));
    std::signal(SIGSEGV, SIG_DFL); // the instruction runs again and ends the program
  }
  void (*before_)(int);
};

Conv2DShape make_shape(int64_t in_h, int64_t in_w, int64_t in_c, int64_t filter_h, int64_t filter_w,
                       int64_t out_c, int64_t stride_h, int64_t stride_w) {
  Conv2DShape s;
  s.batch = 2;
  s.in_h = in_h;
  s.in_w = in_w;
  s.in_c = in_c;
  s.filter_h = filter_h;
  s.filter_w = filter_w;
  s.out_c = out_c;
  s.stride_h = stride_h;
  s.stride_w = stride_w;
  return s;
}

struct Results {
  std::vector<float> y, dx, df;
};

Results compute(const Conv2DShape& s) {
  const GuardedFloats x(s.batch * s.in_h * s.in_w * s.in_c, 1),
      filter(s.filter_h * s.filter_w * s.in_c * s.out_c, 2),
      dy(s.batch * s.out_h * s.out_w * s.out_c, 3), y(dy.size(), 4), dx(x.size(), 5),
      df(filter.size(), 6);
  conv2d_forward(Type::float32, s, x.data(), filter.data(), y.data(), 0, s.batch);
  conv2d_backward_input(Type::float32, s, filter.data(), dy.data(), dx.data(), 0, s.batch);
  conv2d_backward_filter(Type::float32, s, x.data(), dy.data(), df.data(), 0, s.batch);
  const auto kept = [](const GuardedFloats& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
  };
  return {kept(y), kept(dx), kept(df)};
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

// Computes `s` with and without oneDNN on guarded memory; a crash is told with the shape.
void check(const Conv2DShape& s) {
  std::snprintf(
      in_progress, sizeof(in_progress),
      "image %ld x %ld x %ld, filter %ld x %ld to %ld, strides %ld and %ld, dilations %ld and "
      "%ld, %ld x %ld out, padding before %ld and %ld\n",
      s.in_h, s.in_w, s.in_c, s.filter_h, s.filter_w, s.out_c, s.stride_h, s.stride_w, s.dilation_h,
      s.dilation_w, s.out_h, s.out_w, s.pad_top, s.pad_left);
  CAPTURE(in_progress);
  use_onednn(true);
  const int spoilt = GuardedScratch::num_spoilt();
  const Results got = compute(s);
  thread_scratch(Scratch::onednn, 1); // gives the last block back
  REQUIRE(GuardedScratch::num_spoilt() == spoilt);
  use_onednn(false);
  const Results want = compute(s);
  CHECK(largest_difference(got.y, want.y) < 1e-4);
  CHECK(largest_difference(got.dx, want.dx) < 1e-4);
  CHECK(largest_difference(got.df, want.df) < 2e-3);
}

void check(Conv2DShape s, Padding padding) {
  if (window_extent(s.in_h, s.filter_h, s.dilation_h, s.stride_h, padding, s.out_h, s.pad_top) &&
      window_extent(s.in_w, s.filter_w, s.dilation_w, s.stride_w, padding, s.out_w, s.pad_left) &&
      s.out_h > 0 && s.out_w > 0)
    check(s);
}

TEST_CASE("oneDNN's convolutions stay within their scratchpads, inputs and outputs") {
  const bool before = onednn_in_use();
  use_onednn(true);
  if (!onednn_in_use())
    return;
  const GuardedScratch guarded;
  const TellsShape tells;
  for (Padding padding : {Padding::same, Padding::valid}) {
    for (int64_t filter = 1; filter <= 7; ++filter)
      for (int64_t stride = 1; stride <= 3; ++stride)
        for (int64_t in_c = 1; in_c <= 17; ++in_c)
          for (int64_t out_c : {1, 8, 17})
            check(make_shape(10, 9, in_c, filter, filter == 2 ? 1 : filter, out_c, stride, stride),
                  padding);
    // Filters of one pixel have code of their own, and with it strides that differ.
    for (int64_t stride = 1; stride <= 3; ++stride)
      for (int64_t other = 1; other <= 3; ++other)
        for (int64_t in_c = 1; in_c <= 17; ++in_c)
          for (int64_t out_c : {1, 16})
            for (int64_t height : {4, 32})
              check(make_shape(height, 28, in_c, 1, 1, out_c, stride, other), padding);
  }
  use_onednn(before);
}

TEST_CASE(
    "convolutions with filters wider than their image, and with padding of any width, are right") {
  const bool before = onednn_in_use();
  use_onednn(true);
  if (!onednn_in_use())
    return;
  const GuardedScratch guarded;
  const TellsShape tells;
  on_each_isa([] {
    for (int64_t filter : {2, 5, 8, 9, 16})
      for (int64_t width : {1, 4, 7, 9, 12})
        for (int64_t in_c : {1, 8, 16})
          for (int64_t out_c : {16, 64, 128})
            for (int64_t dilation : {1, 2}) {
              Conv2DShape row = make_shape(1, width, in_c, 1, filter, out_c, 1, 1);
              row.dilation_w = dilation;
              check(row, Padding::same);
              const int64_t reach = (filter - 1) * dilation;
              for (auto [left, right] : {std::pair{0, 4}, {6, 1}, {13, 13}}) {
                row.pad_left = left;
                row.out_h = 1;
                row.out_w = width + left + right - reach;
                if (row.out_w > 0)
                  check(row);
              }
            }
    check(make_shape(3, 7, 8, 2, 8, 64, 1, 1), Padding::same);
    check(make_shape(7, 1, 8, 9, 1, 64, 1, 1), Padding::same);
    check(make_shape(3, 9, 16, 2, 10, 64, 2, 2), Padding::same);
  });
  use_onednn(before);
}

TEST_CASE(
    "a first run that leaves its scratchpad is noticed, and one that fills it is not blamed") {
  constexpr size_t bytes = 1000;
  CHECK(runs_within(Scratch::onednn, bytes, [](void* p) { std::memset(p, 1, bytes); }));
  for (size_t beyond : {size_t{0}, size_t{1}, bytes, size_t{64} << 10})
    CHECK_FALSE(runs_within(Scratch::onednn, bytes, [&](void* p) {
      static_cast<char*>(p)[bytes + beyond - (beyond == size_t{64} << 10)] = 1;
    }));
}

} // namespace
} // namespace troupe::arith::onednn_guard_test
