#include "kernels/arith/onednn/primitive.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace troupe::arith::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

/// What is done to a result of the forward direction before it is written, as bits.
constexpr int64_t scales = 1, shifts = 2;

/// An offset without a factor is the convolution's own bias.
bool is_bias(int64_t epilogue) {
  return epilogue == shifts;
}

memory::desc bias_of(const Descriptors& d) {
  return {{d.y.dims()[1]}, memory::data_type::f32, Tag::x};
}

memory::desc one_for_each_channel(const Descriptors& d) {
  return {{1, d.y.dims()[1], 1, 1}, memory::data_type::f32, Tag::nhwc};
}

dnnl::primitive_attr attributes(const Descriptors& d, int64_t epilogue) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops operations;
  if (epilogue & scales)
    operations.append_binary(dnnl::algorithm::binary_mul, one_for_each_channel(d));
  if ((epilogue & shifts) && !is_bias(epilogue))
    operations.append_binary(dnnl::algorithm::binary_add, one_for_each_channel(d));
  attr.set_post_ops(operations);
  return attr;
}

/// Null where oneDNN has only its reference code.
template <class Description>
std::shared_ptr<Primitive> finish(const Description& found, const memory::desc& chosen,
                                  const Descriptors& d, const dnnl::primitive& run,
                                  bool filter_is_output) {
  if (is_reference(found))
    return nullptr;
  auto result = std::make_shared<Primitive>(d);
  result->compiled.run = run;
  result->compiled.scratchpad = found.scratchpad_desc();
  result->filter = chosen;
  result->reorders = chosen != d.filter;
  if (result->reorders) {
    const memory::desc& from = filter_is_output ? chosen : d.filter;
    const memory::desc& to = filter_is_output ? d.filter : chosen;
    result->reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }
  return result;
}

std::shared_ptr<Primitive> make(Direction direction, const Descriptors& d, int64_t epilogue) {
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  const bool is_forward = direction == Direction::forward || direction == Direction::turned;
  const auto kind =
      is_forward ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const dnnl::convolution_forward::desc what =
      is_bias(epilogue)
          ? dnnl::convolution_forward::desc(kind, direct, d.x, d.any_filter, bias_of(d), d.y,
                                            d.strides, d.dilations, d.pad_before, d.pad_after)
          : dnnl::convolution_forward::desc(kind, direct, d.x, d.any_filter, d.y, d.strides,
                                            d.dilations, d.pad_before, d.pad_after);
  const dnnl::convolution_forward::primitive_desc forward(what, attributes(d, epilogue), engine());
  if (is_forward)
    return finish(forward, forward.weights_desc(), d, dnnl::convolution_forward(forward), false);
  if (direction == Direction::backward_input) {
    const dnnl::convolution_backward_data::primitive_desc backward(
        dnnl::convolution_backward_data::desc(direct, d.x, d.any_filter, d.y, d.strides,
                                              d.dilations, d.pad_before, d.pad_after),
        attributes(d, 0), engine(), forward);
    return finish(backward, backward.weights_desc(), d, dnnl::convolution_backward_data(backward),
                  false);
  }
  const dnnl::convolution_backward_weights::primitive_desc backward(
      dnnl::convolution_backward_weights::desc(direct, d.x, d.any_filter, d.y, d.strides,
                                               d.dilations, d.pad_before, d.pad_after),
      attributes(d, 0), engine(), forward);
  return finish(backward, backward.diff_weights_desc(), d,
                dnnl::convolution_backward_weights(backward), true);
}

using Key = std::array<int64_t, 17>;

} // namespace

Descriptors::Descriptors(const Conv2DShape& s, int64_t images)
    : x({images, s.in_c, s.in_h, s.in_w}, memory::data_type::f32, Tag::nhwc),
      y({images, s.out_c, s.out_h, s.out_w}, memory::data_type::f32, Tag::nhwc),
      filter({s.out_c, s.in_c, s.filter_h, s.filter_w}, memory::data_type::f32, Tag::hwio),
      any_filter({s.out_c, s.in_c, s.filter_h, s.filter_w}, memory::data_type::f32, Tag::any),
      strides{s.stride_h, s.stride_w}, dilations{s.dilation_h - 1, s.dilation_w - 1},
      pad_before{s.pad_top, s.pad_left}, pad_after{rows_below(s), columns_behind(s)} {}

void Descriptors::turn_filter() {
  const memory::dims dims = filter.dims(); // of the turned one: output, input, height, width
  const int64_t pixel = dims[0] * dims[1];
  filter = memory::desc(dims, memory::data_type::f32, {dims[1], 1, dims[3] * pixel, pixel});
}

int64_t rows_below(const Conv2DShape& s) {
  return (s.out_h - 1) * s.stride_h + (s.filter_h - 1) * s.dilation_h + 1 - s.in_h - s.pad_top;
}

int64_t columns_behind(const Conv2DShape& s) {
  return (s.out_w - 1) * s.stride_w + (s.filter_w - 1) * s.dilation_w + 1 - s.in_w - s.pad_left;
}

int64_t bits_of(const ConvEpilogue& e) {
  return (e.factor != nullptr ? scales : 0) | (e.offset != nullptr ? shifts : 0);
}

void add_operands(Arguments& arguments, const Descriptors& d, const ConvEpilogue& e) {
  if (is_bias(bits_of(e))) {
    arguments.insert({DNNL_ARG_BIAS, view(bias_of(d), e.offset)});
    return;
  }
  int number = 0;
  for (const float* operand : {e.factor, e.offset})
    if (operand != nullptr)
      arguments.insert({DNNL_ARG_ATTR_MULTIPLE_POST_OP(number++) | DNNL_ARG_SRC_1,
                        view(one_for_each_channel(d), operand)});
}

bool leaves_its_rows(const Conv2DShape& s) {
  const int64_t reach = (s.filter_w - 1) * s.dilation_w, before = s.pad_left,
                behind = std::max<int64_t>(columns_behind(s), 0);
  if (before == 0 && behind == 0)
    return false;
  return reach >= s.in_w || std::abs(before - behind) > 1 || std::max(before, behind) > reach;
}

std::shared_ptr<Primitive> primitive(Direction direction, const Conv2DShape& s, int64_t images,
                                     int64_t epilogue) {
  constexpr size_t limit = 4096;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<Primitive>> cache;
  const Key key = {static_cast<int64_t>(direction),
                   images,
                   s.in_h,
                   s.in_w,
                   s.in_c,
                   s.filter_h,
                   s.filter_w,
                   s.out_h,
                   s.out_w,
                   s.out_c,
                   s.stride_h,
                   s.stride_w,
                   s.dilation_h,
                   s.dilation_w,
                   s.pad_top,
                   s.pad_left,
                   epilogue};
  if (leaves_its_rows(s))
    return nullptr;
  std::lock_guard lock(mutex);
  if (auto found = cache.find(key); found != cache.end())
    return found->second;
  if (cache.size() >= limit)
    cache.clear();
  std::shared_ptr<Primitive> made;
  try {
    Descriptors d(s, images);
    if (direction == Direction::turned)
      d.turn_filter();
    made = make(direction, d, epilogue);
    if (made != nullptr && direction == Direction::turned) {
      made->turns = true;
      if (!made->reorders)
        made = nullptr;
    }
  } catch (const dnnl::error&) {
    made = nullptr; // not a case for oneDNN; remembered as such
  }
  cache.emplace(key, made);
  return made;
}

} // namespace troupe::arith::onednn
