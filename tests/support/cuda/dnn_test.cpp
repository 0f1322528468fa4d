// cuDNN over the double: plans are made once, algorithms measured once, refusals kept; values are
// those of plain sums.
#include "devices/cuda/dnn.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "core/base/strings.hpp"
#include "core/tensor/types.hpp"
#include "devices/cuda/cuda_device.hpp"
#include "devices/host/device_host.hpp"
#include "tests/support/cuda/cuda_double.hpp"

using namespace troupe;
using cuda::DnnConvolution;
using cuda::DnnResult;
using troupe::testing::CudaDouble;

namespace troupe::testing {
void delay_algorithm(int algorithm, int milliseconds); // double_dnn.cpp
} // namespace troupe::testing

namespace {

constexpr int refusal = 3000;
constexpr const char* find_forward = "cudnnGetConvolutionForwardAlgorithm_v7";
/// The double's algorithms of a convolution of floats, in its order, and what they need.
constexpr int winograd = 6, plain = 1;
constexpr std::size_t least_workspace = 1000, winograd_workspace = 3000;

struct DnnRig {
  DeviceHost host{1};
  CudaDouble driver;
  std::shared_ptr<cuda::Gpu> gpu = *cuda::Gpu::open(driver.libraries(), 0);
  std::unique_ptr<Device> device =
      cuda::make_device("/job:a/replica:0/task:0/device:GPU:0", gpu, *host.compute);

  ~DnnRig() {
    device = nullptr;
    gpu = nullptr;
    CHECK(str_join(driver.problems(), "; ") == "");
    CHECK(driver.bytes_in_use() == 0);
  }

  cuda::Dnn& dnn() {
    auto made = gpu->dnn();
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return **made;
  }
  std::shared_ptr<cuda::DnnPlan> plan(const DnnConvolution& c) {
    auto made = dnn().plan(c);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return *made;
  }
  Tensor make(DType dtype, const Shape& shape) {
    auto made = Tensor::allocate(device->allocator(), dtype, shape);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return *made;
  }
  /// How often an algorithm was tried.
  int runs(int algorithm) const {
    return driver.launches(str_cat("cudnnConvolutionForward, algorithm ", algorithm));
  }
  void refuse(int algorithm) {
    driver.fail_call(str_cat("cudnnConvolutionForward, algorithm ", algorithm), refusal);
  }
  Tensor moved(const Tensor& value, bool in) {
    std::promise<Result<Tensor>> answer;
    const auto done = [&](Result<Tensor> copy) { answer.set_value(std::move(copy)); };
    in ? device->copy_to_device(value, device->stream(), done)
       : device->copy_to_host(value, device->stream(), done);
    auto copy = answer.get_future().get();
    REQUIRE_MESSAGE(copy.ok(), copy.status().to_string());
    return *copy;
  }
};

// Strides, dilation and padding that differ by dimension.
DnnConvolution uneven() {
  return {.batch = 2,
          .in_h = 7,
          .in_w = 6,
          .in_c = 3,
          .filter_h = 3,
          .filter_w = 2,
          .out_h = 4,
          .out_w = 6,
          .out_c = 2,
          .stride_h = 2,
          .stride_w = 1,
          .dilation_h = 1,
          .dilation_w = 2,
          .pad_h = 1,
          .pad_w = 1};
}

/// -1, 0 and 1, so that sums are exact in each type.
template <class T>
Tensor signs(const Shape& shape, unsigned seed) {
  Tensor out = Tensor::make(dtype_of<T>, shape);
  for (T& value : out.template mutable_data<T>()) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<T>(static_cast<float>(static_cast<int>((seed >> 24) % 3) - 1));
  }
  return out;
}

/// While it lives an algorithm takes longer.
struct Delay {
  int algorithm;
  explicit Delay(int which) : algorithm(which) { testing::delay_algorithm(algorithm, 30); }
  ~Delay() { testing::delay_algorithm(algorithm, 0); }
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;
};

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

/// A dense array of pixels, [n, height, width, channels], or [n, channels, height, width].
struct Pixels {
  bool in_planes;
  std::int64_t n, h, w, c;

  Shape shape() const { return in_planes ? Shape{n, c, h, w} : Shape{n, h, w, c}; }
  std::size_t at(std::int64_t of_n, std::int64_t row, std::int64_t column,
                 std::int64_t channel) const {
    return static_cast<std::size_t>(in_planes ? ((of_n * c + channel) * h + row) * w + column
                                              : ((of_n * h + row) * w + column) * c + channel);
  }
};

/// Of x, filter and y.
std::array<Pixels, 3> pixels_of(const DnnConvolution& c) {
  return {Pixels{c.in_planes, c.batch, c.in_h, c.in_w, c.in_c},
          Pixels{c.in_planes, c.out_c, c.filter_h, c.filter_w, c.in_c},
          Pixels{c.in_planes, c.batch, c.out_h, c.out_w, c.out_c}};
}

/// The sum of x's element times filter's times y's, over all products of the convolution. It is
/// linear in each of the three.
template <class T>
double form(const DnnConvolution& c, const Tensor& x, const Tensor& filter, const Tensor& y) {
  const auto [in_x, in_filter, in_y] = pixels_of(c);
  double sum = 0;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t p = 0; p < c.out_h; ++p)
      for (std::int64_t q = 0; q < c.out_w; ++q)
        for (std::int64_t k = 0; k < c.out_c; ++k)
          for (std::int64_t i = 0; i < c.filter_h * c.filter_w * c.in_c; ++i) {
            const std::int64_t r = i / c.in_c / c.filter_w, t = i / c.in_c % c.filter_w;
            const std::int64_t row = p * c.stride_h - c.pad_h + r * c.dilation_h;
            const std::int64_t column = q * c.stride_w - c.pad_w + t * c.dilation_w;
            const std::int64_t channel = i % c.in_c;
            if (row < 0 || row >= c.in_h || column < 0 || column >= c.in_w)
              continue;
            sum += number(x.data<T>()[in_x.at(n, row, column, channel)]) *
                   number(filter.data<T>()[in_filter.at(k, r, t, channel)]) *
                   number(y.data<T>()[in_y.at(n, p, q, k)]);
          }
  return sum;
}

/// The same pixels in the other order.
template <class T>
Tensor turned(const Pixels& from, const Tensor& value) {
  Pixels to = from;
  to.in_planes = !from.in_planes;
  Tensor out = Tensor::make(dtype_of<T>, to.shape());
  for (std::int64_t n = 0; n < from.n; ++n)
    for (std::int64_t row = 0; row < from.h; ++row)
      for (std::int64_t column = 0; column < from.w; ++column)
        for (std::int64_t c = 0; c < from.c; ++c)
          out.template mutable_data<T>()[to.at(n, row, column, c)] =
              value.data<T>()[from.at(n, row, column, c)];
  return out;
}

template <class T>
double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.data<T>().size(); ++i)
    sum += number(a.data<T>()[i]) * number(b.data<T>()[i]);
  return sum;
}

Tensor computed(DnnRig& rig, const DnnConvolution& c, const Tensor& of_a, const Tensor& of_b,
                const Shape& shape) {
  const auto plan = rig.plan(c);
  REQUIRE(plan != nullptr);
  const Tensor a = rig.moved(of_a, true), b = rig.moved(of_b, true);
  Tensor out = rig.make(c.dtype, shape);
  const std::size_t bytes = plan->workspace();
  Tensor workspace = rig.make(DType::uint8, Shape{static_cast<std::int64_t>(bytes)});
  auto ran =
      rig.dnn().run(*plan, a.raw(), b.raw(), out.mutable_raw(), workspace.mutable_raw(), bytes);
  REQUIRE_MESSAGE(ran.ok(), ran.status().to_string());
  CHECK(*ran);
  return rig.moved(out, false);
}

template <class T>
void check_values(DnnRig& rig) {
  DnnConvolution c = uneven();
  c.dtype = dtype_of<T>;
  CAPTURE(to_string(c.dtype));
  const auto pixels = pixels_of(c);
  const std::array all{signs<T>(pixels[0].shape(), 1), signs<T>(pixels[1].shape(), 2),
                       signs<T>(pixels[2].shape(), 3)};
  const double expected = form<T>(c, all[0], all[1], all[2]);
  CHECK(expected != 0);
  struct Row {
    DnnResult result;
    std::size_t a, b, out;
  };
  for (const Row& row : {Row{DnnResult::y, 0, 1, 2}, Row{DnnResult::dx, 1, 2, 0},
                         Row{DnnResult::dfilter, 0, 2, 1}}) {
    CAPTURE(row.out);
    c.result = row.result;
    c.in_planes = false;
    const Shape shape = pixels[row.out].shape();
    const Tensor out = computed(rig, c, all[row.a], all[row.b], shape);
    // What was computed is the factor of the third.
    CHECK(dot<T>(out, all[row.out]) == expected);
    c.in_planes = true;
    const Tensor planes =
        computed(rig, c, turned<T>(pixels[row.a], all[row.a]), turned<T>(pixels[row.b], all[row.b]),
                 pixels_of(c)[row.out].shape());
    const Tensor back = turned<T>(pixels_of(c)[row.out], planes);
    CHECK(back.shape() == shape);
    CHECK(std::memcmp(back.raw(), out.raw(), out.byte_size()) == 0);
  }
}

/// Runs of one convolution of floats with memory of its own.
struct Runs {
  DnnRig& rig;
  DnnConvolution c;
  Tensor x = rig.moved(signs<float>({2, 7, 6, 3}, 1), true);
  Tensor filter = rig.moved(signs<float>({2, 3, 2, 3}, 1), true);
  Tensor y = rig.make(DType::float32, {2, 4, 6, 2});
  Tensor workspace = rig.make(DType::uint8, {static_cast<std::int64_t>(winograd_workspace)});

  bool run(std::size_t bytes) { return run(rig.plan(c), bytes); }
  bool run(const std::shared_ptr<cuda::DnnPlan>& plan, std::size_t bytes) {
    REQUIRE(plan != nullptr);
    auto ran = rig.dnn().run(*plan, x.raw(), filter.raw(), y.mutable_raw(), workspace.mutable_raw(),
                             bytes);
    REQUIRE_MESSAGE(ran.ok(), ran.status().to_string());
    return *ran;
  }
  bool run() { return run(rig.plan(c)->workspace()); }
};

} // namespace

TEST_CASE("dnn: the three of a convolution, in each type of floats, in planes and not") {
  DnnRig rig;
  check_values<float>(rig);
  check_values<double>(rig);
  check_values<Half>(rig);
  check_values<BFloat16>(rig);
}

TEST_CASE("dnn: a plan is made once for a convolution") {
  DnnRig rig;
  const auto plan = rig.plan(uneven());
  REQUIRE(plan != nullptr);
  CHECK(plan->workspace() > 0);
  CHECK(rig.plan(uneven()) == plan);
  CHECK(rig.driver.launches(find_forward) == 1);
  DnnConvolution other = uneven();
  other.batch = 3;
  CHECK(rig.plan(other) != plan);
  CHECK(rig.driver.launches(find_forward) == 2);
  // All that are kept go once they are many; whoever holds one keeps it.
  for (other.batch = 4; other.batch < 1100; ++other.batch)
    CHECK(rig.plan(other) != nullptr);
  CHECK(rig.plan(uneven()) != plan);
  CHECK(plan->convolution() == uneven());
}

TEST_CASE("dnn: the first run measures, and the quickest algorithm runs from then on") {
  DnnRig rig;
  Runs one{rig, uneven()};
  for (int slow : {winograd, plain}) {
    CAPTURE(slow);
    const Delay delay(slow);
    const int quick = winograd + plain - slow;
    const int slow_before = rig.runs(slow), quick_before = rig.runs(quick);
    one.c.stride_w = slow == winograd ? 1 : 2; // another plan
    one.c.out_w = slow == winograd ? 6 : 3;
    const auto plan = rig.plan(one.c);
    CHECK(plan->workspace() == winograd_workspace);
    CHECK(plan->least_workspace() == least_workspace);
    CHECK(one.run());
    CHECK(rig.runs(slow) == slow_before + 2);
    CHECK(rig.runs(quick) == quick_before + 3);
    CHECK(plan->workspace() == (quick == plain ? least_workspace : winograd_workspace));
    CHECK(one.run());
    CHECK(one.run());
    CHECK(rig.runs(slow) == slow_before + 2);
    CHECK(rig.runs(quick) == quick_before + 5);
    CHECK(one.run(plan, winograd_workspace)); // as much as it said before
  }
}

TEST_CASE("dnn: threads that meet at the first run measure once") {
  DnnRig rig;
  const Delay delay(winograd);
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Runs one{rig, uneven()};
      for (int run = 0; run < 3; ++run)
        done += one.run();
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(done == 12);
  CHECK(rig.runs(winograd) == 2);
  CHECK(rig.runs(plain) == 2 + 12);
}

TEST_CASE("dnn: without memory for all algorithms one that has enough runs, and none is measured") {
  DnnRig rig;
  Runs one{rig, uneven()};
  CHECK(!one.run(least_workspace - 1));
  CHECK(one.run(least_workspace));
  CHECK(rig.runs(winograd) == 0);
  CHECK(rig.runs(plain) == 1);
  const Delay delay(plain);
  CHECK(one.run());
  CHECK(rig.runs(winograd) == 3);
  CHECK(rig.runs(plain) == 3);
}

TEST_CASE("dnn: an algorithm that cuDNN refuses to run is not tried again, and others are") {
  DnnRig rig;
  Runs one{rig, uneven()};
  SUBCASE("when it is measured") {
    rig.refuse(winograd);
    CHECK(one.run());
    CHECK(rig.runs(winograd) == 1);
    CHECK(rig.runs(plain) == 3);
    CHECK(one.run());
    CHECK(rig.runs(winograd) == 1);
    CHECK(rig.runs(plain) == 4);
  }
  SUBCASE("when it was chosen") {
    const Delay delay(winograd);
    CHECK(one.run());
    rig.refuse(plain);
    CHECK(!one.run()); // the other needs more memory
    CHECK(rig.plan(one.c)->workspace() == winograd_workspace);
    CHECK(one.run());
    CHECK(rig.runs(winograd) == 3);
    CHECK(rig.runs(plain) == 4);
  }
  SUBCASE("when there is memory for the next") {
    const Delay delay(winograd);
    CHECK(one.run());
    rig.refuse(plain);
    CHECK(one.run(winograd_workspace));
    CHECK(rig.runs(winograd) == 3);
  }
  SUBCASE("until none is left") {
    const auto plan = rig.plan(one.c);
    rig.refuse(winograd);
    rig.refuse(plain);
    CHECK(!one.run());
    CHECK(rig.plan(one.c) == nullptr);
    CHECK(!one.run(plan, winograd_workspace)); // whoever still holds it
    CHECK(rig.runs(winograd) == 1);
    CHECK(rig.runs(plain) == 1);
  }
}

TEST_CASE("dnn: what the GPU says while algorithms are measured is an error of the run") {
  DnnRig rig;
  Runs one{rig, uneven()};
  rig.driver.fail_call("cuEventElapsedTime", 1);
  auto ran = rig.dnn().run(*rig.plan(one.c), one.x.raw(), one.filter.raw(), one.y.mutable_raw(),
                           one.workspace.mutable_raw(), winograd_workspace);
  REQUIRE(!ran.ok());
  CHECK(ran.status().message().starts_with("measuring a convolution"));
  CHECK(one.run());
}

TEST_CASE("dnn: plain sums are those of one algorithm, which is not measured") {
  DnnRig rig;
  Runs one{rig, uneven()};
  one.c.has_plain_sums = true;
  CHECK(rig.plan(one.c)->workspace() == least_workspace);
  CHECK(one.run());
  CHECK(rig.runs(plain) == 1);
  CHECK(rig.runs(winograd) == 0);
  CHECK(rig.driver.launches("cudnnConvolutionForward") == 1);
}

TEST_CASE("dnn: what cuDNN refuses is not asked again") {
  DnnRig rig;
  SUBCASE("when an algorithm is chosen") {
    rig.driver.fail_call(find_forward, refusal);
    CHECK(rig.plan(uneven()) == nullptr);
    CHECK(rig.plan(uneven()) == nullptr);
    CHECK(rig.driver.launches(find_forward) == 1);
  }
  SUBCASE("when the memory of the only one is asked for") {
    DnnConvolution c = uneven();
    c.has_plain_sums = true;
    rig.driver.fail_call("cudnnGetConvolutionForwardWorkspaceSize", refusal, 1);
    CHECK(rig.plan(c) == nullptr);
  }
  SUBCASE("when it runs") {
    rig.driver.fail_call("cudnnConvolutionForward", refusal);
    CHECK(!Runs{rig, uneven()}.run());
    CHECK(rig.plan(uneven()) == nullptr);
  }
  SUBCASE("sizes that do not belong together") {
    DnnConvolution c = uneven();
    c.out_h = 5;
    CHECK(rig.plan(c) == nullptr);
  }
  SUBCASE("sizes that are no ints are not asked for at all") {
    DnnConvolution c = uneven();
    c.batch = std::int64_t{1} << 31;
    CHECK(rig.plan(c) == nullptr);
    c.batch = 1 << 25; // x has 126 * 2^25 elements
    CHECK(rig.plan(c) == nullptr);
    CHECK(rig.driver.launches(find_forward) == 0);
  }
}

TEST_CASE("dnn: whether there is one is found out once") {
  DnnRig rig;
  SUBCASE("no library") {
    rig.driver.fail_call("libcudnn", 1);
    CHECK(rig.gpu->dnn().status().code() == Code::failed_precondition);
    CHECK(rig.gpu->dnn().status().code() == Code::failed_precondition);
    CHECK(rig.driver.launches("libcudnn") == 1);
  }
  SUBCASE("it does not start") {
    rig.driver.fail_call("cudnnCreate", 1001);
    CHECK(rig.gpu->dnn().status().message() ==
          "starting by cuDNN on GPU 0 failed: CUDNN_STATUS_OF_THE_DOUBLE (its status 1001)");
    CHECK(rig.gpu->dnn().status().code() == Code::internal);
    CHECK(rig.driver.launches("cudnnCreate") == 1);
  }
}
