// cuDNN over the double: plans are made once, refusals are kept, values are those of plain sums.
#include "devices/cuda/dnn.hpp"

#include <doctest/doctest.h>

#include <future>

#include "core/base/strings.hpp"
#include "core/tensor/types.hpp"
#include "devices/cuda/cuda_device.hpp"
#include "devices/host/device_host.hpp"
#include "tests/support/cuda/cuda_double.hpp"

using namespace troupe;
using cuda::DnnConvolution;
using cuda::DnnResult;
using troupe::testing::CudaDouble;

namespace {

constexpr int refusal = 3000;
constexpr const char* find_forward = "cudnnGetConvolutionForwardAlgorithm_v7";

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
  std::shared_ptr<const cuda::DnnPlan> plan(const DnnConvolution& c) {
    auto made = dnn().plan(c);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return *made;
  }
  Tensor make(DType dtype, const Shape& shape) {
    auto made = Tensor::allocate(device->allocator(), dtype, shape);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return *made;
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

template <class T>
double number(T value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

/// The sum of x's element times filter's times y's, over all products of the convolution. It is
/// linear in each of the three.
template <class T>
double form(const DnnConvolution& c, const Tensor& x, const Tensor& filter, const Tensor& y) {
  double sum = 0;
  std::int64_t at_y = 0;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t p = 0; p < c.out_h; ++p)
      for (std::int64_t q = 0; q < c.out_w; ++q)
        for (std::int64_t k = 0; k < c.out_c; ++k, ++at_y)
          for (std::int64_t i = 0; i < c.filter_h * c.filter_w * c.in_c; ++i) {
            const std::int64_t row =
                p * c.stride_h - c.pad_h + i / c.in_c / c.filter_w * c.dilation_h;
            const std::int64_t column =
                q * c.stride_w - c.pad_w + i / c.in_c % c.filter_w * c.dilation_w;
            if (row < 0 || row >= c.in_h || column < 0 || column >= c.in_w)
              continue;
            const auto at_x = ((n * c.in_h + row) * c.in_w + column) * c.in_c + i % c.in_c;
            const auto at_filter = k * c.filter_h * c.filter_w * c.in_c + i;
            sum += number(x.data<T>()[static_cast<std::size_t>(at_x)]) *
                   number(filter.data<T>()[static_cast<std::size_t>(at_filter)]) *
                   number(y.data<T>()[static_cast<std::size_t>(at_y)]);
          }
  return sum;
}

template <class T>
double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.data<T>().size(); ++i)
    sum += number(a.data<T>()[i]) * number(b.data<T>()[i]);
  return sum;
}

template <class T>
void check_values(DnnRig& rig) {
  DnnConvolution c = uneven();
  c.dtype = dtype_of<T>;
  CAPTURE(to_string(c.dtype));
  const Tensor x = signs<T>({c.batch, c.in_h, c.in_w, c.in_c}, 1);
  const Tensor filter = signs<T>({c.out_c, c.filter_h, c.filter_w, c.in_c}, 2);
  const Tensor y = signs<T>({c.batch, c.out_h, c.out_w, c.out_c}, 3);
  const double expected = form<T>(c, x, filter, y);
  CHECK(expected != 0);
  const Tensor* all[] = {&x, &filter, &y};
  struct Row {
    DnnResult result;
    int a, b, out;
  };
  for (const Row& row : {Row{DnnResult::y, 0, 1, 2}, Row{DnnResult::dx, 1, 2, 0},
                         Row{DnnResult::dfilter, 0, 2, 1}}) {
    CAPTURE(row.out);
    c.result = row.result;
    const auto plan = rig.plan(c);
    REQUIRE(plan != nullptr);
    const Tensor a = rig.moved(*all[row.a], true), b = rig.moved(*all[row.b], true);
    Tensor out = rig.make(c.dtype, all[row.out]->shape());
    Tensor workspace = rig.make(DType::uint8, Shape{static_cast<std::int64_t>(plan->workspace())});
    auto ran = rig.dnn().run(*plan, a.raw(), b.raw(), out.mutable_raw(), workspace.mutable_raw());
    REQUIRE_MESSAGE(ran.ok(), ran.status().to_string());
    CHECK(*ran);
    // What was computed is the factor of the third.
    CHECK(dot<T>(rig.moved(out, false), *all[row.out]) == expected);
  }
}

} // namespace

TEST_CASE("dnn: the three of a convolution, in each type of floats") {
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

TEST_CASE("dnn: sums are plain where they shall be, else cuDNN's first algorithm is taken") {
  DnnRig rig;
  for (bool has_plain_sums : {false, true}) {
    DnnConvolution c = uneven();
    c.has_plain_sums = has_plain_sums;
    const auto plan = rig.plan(c);
    const Tensor x = rig.moved(signs<float>({2, 7, 6, 3}, 1), true);
    const Tensor filter = rig.moved(signs<float>({2, 3, 2, 3}, 1), true);
    Tensor y = rig.make(DType::float32, {2, 4, 6, 2});
    Tensor workspace = rig.make(DType::uint8, Shape{static_cast<std::int64_t>(plan->workspace())});
    CHECK(*rig.dnn().run(*plan, x.raw(), filter.raw(), y.mutable_raw(), workspace.mutable_raw()));
    CHECK(rig.driver.launches("cudnnConvolutionForward, algorithm 6") == 1);
    CHECK(rig.driver.launches("cudnnConvolutionForward, algorithm 1") == (has_plain_sums ? 1 : 0));
  }
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
    const auto plan = rig.plan(uneven());
    rig.driver.fail_call("cudnnConvolutionForward", refusal);
    auto ran = rig.dnn().run(*plan, nullptr, nullptr, nullptr, nullptr);
    REQUIRE(ran.ok());
    CHECK(!*ran);
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
