// Convolutions and their gradients by oneDNN's primitives.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include "kernels/arith/internal/turned_conv.hpp"
#include "kernels/arith/onednn/primitive.hpp"

namespace troupe::arith {
namespace {

using namespace onednn;
using dnnl::memory;

/// Measured: with one pixel its own code is as fast, and its filter quicker to lay out.
bool can_turn(const Conv2DShape& s) {
  return s.filter_h * s.filter_w > 1 && has_turned(s);
}

/// oneDNN 2.6's AVX2 code for the filter's gradient of a strided convolution of one pixel gathers
/// the pixels that it reads into its scratchpad by whole vectors, and asks for room for the
/// channels that there are: with fewer than a vector has it writes beyond the end.
bool filter_gradient_leaves_its_scratchpad(const Conv2DShape& s) {
  constexpr int64_t vector = 8;
  return s.filter_h == 1 && s.filter_w == 1 && (s.stride_h > 1 || s.stride_w > 1) &&
         s.in_c < vector;
}

/// Lays a filter out for `p`. One that is turned first gets its pixels in the opposite order; that
/// its channels change places is said by the descriptor.
void lay_out(const Primitive& p, const float* filter, const memory& chosen) {
  const memory::dims dims = p.d.filter.dims();
  const int64_t pixels = dims[2] * dims[3], pixel = dims[0] * dims[1];
  if (p.turns && pixels > 1) {
    auto* back = static_cast<float*>(
        thread_scratch(Scratch::patches, static_cast<size_t>(pixels * pixel) * sizeof(float)));
    for (int64_t i = 0; i < pixels; ++i)
      std::memcpy(back + i * pixel, filter + (pixels - 1 - i) * pixel,
                  static_cast<size_t>(pixel) * sizeof(float));
    filter = back;
  }
  p.reorder.execute(stream(), {{DNNL_ARG_FROM, view(p.d.filter, filter)}, {DNNL_ARG_TO, chosen}});
}

/// The filter as `p` wants it: as it is, as it was packed for it, or reordered now.
memory filter_for(const Primitive& p, const ConvFilter& filter) {
  if (!p.reorders)
    return view(p.d.filter, filter.plain);
  if (filter.packed != nullptr && filter.packing->primitive != nullptr) {
    const auto& packer = *static_cast<const Primitive*>(filter.packing->primitive.get());
    if (&packer == &p || (packer.filter == p.filter && packer.turns == p.turns))
      return view(p.filter, filter.packed);
  }
  const memory chosen = view(p.filter, thread_scratch(Scratch::filter, p.filter.get_size()));
  lay_out(p, filter.plain, chosen);
  return chosen;
}

/// Forward, or the input's gradient. False: the caller computes the whole result anew.
bool run(Direction direction, const Conv2DShape& s, int64_t images, const float* x,
         const ConvFilter& filter, const ConvEpilogue& epilogue, const float* y) {
  const OneThread one_thread;
  const std::shared_ptr<Primitive> p = primitive(direction, s, images, bits_of(epilogue));
  if (p == nullptr)
    return false;
  try {
    const bool forward = direction == Direction::forward || direction == Direction::turned;
    Arguments arguments = {{forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_SRC, view(p->d.x, x)},
                           {DNNL_ARG_WEIGHTS, filter_for(*p, filter)},
                           {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, view(p->d.y, y)}};
    add_operands(arguments, p->d, epilogue);
    return execute(p->compiled, arguments);
  } catch (const dnnl::error&) {
    return false;
  }
}

bool run_backward_filter(const Conv2DShape& s, int64_t images, const float* x, float* dfilter,
                         const float* dy) {
  const OneThread one_thread;
  const std::shared_ptr<Primitive> p = primitive(Direction::backward_filter, s, images);
  if (p == nullptr)
    return false;
  try {
    const memory plain = view(p->d.filter, dfilter);
    memory chosen = plain;
    if (p->reorders)
      chosen = view(p->filter, thread_scratch(Scratch::filter, p->filter.get_size()));
    Arguments arguments = {{DNNL_ARG_SRC, view(p->d.x, x)},
                           {DNNL_ARG_DIFF_WEIGHTS, chosen},
                           {DNNL_ARG_DIFF_DST, view(p->d.y, dy)}};
    if (!execute(p->compiled, arguments))
      return false;
    if (p->reorders)
      p->reorder.execute(stream(), {{DNNL_ARG_FROM, chosen}, {DNNL_ARG_TO, plain}});
    stream().wait();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

int64_t input_offset(const Conv2DShape& s, int64_t image) {
  return image * s.in_h * s.in_w * s.in_c;
}

int64_t output_offset(const Conv2DShape& s, int64_t image) {
  return image * s.out_h * s.out_w * s.out_c;
}

/// The same convolution over images that have their padding in them, where oneDNN needs it: for
/// what leaves_its_rows() says; and its code for AVX2 takes no padding of more than three columns,
/// and what it has otherwise takes three times as long.
Conv2DShape as_computed(const Conv2DShape& s, int64_t images) {
  constexpr int64_t widest = 3,
                    most = 32 << 20; // columns; bytes of the copies, which a thread keeps
  const int64_t below = std::max<int64_t>(rows_below(s), 0);
  const int64_t right = std::max<int64_t>(columns_behind(s), 0);
  Conv2DShape out = s;
  out.in_h += s.pad_top + below;
  out.in_w += s.pad_left + right;
  out.pad_top = out.pad_left = 0;
  const auto bytes = static_cast<double>(images) * static_cast<double>(out.in_h * out.in_w) *
                     static_cast<double>(s.in_c) * sizeof(float);
  const bool is_large = out.in_h > 2 * s.in_h || out.in_w > 2 * s.in_w || bytes > most;
  const bool is_needed =
      leaves_its_rows(s) || (isa() == Isa::avx2 && std::max(s.pad_left, right) > widest);
  return is_needed && !is_large && s.pad_left >= 0 && s.pad_top >= 0 ? out : s;
}

/// A convolution whose padding is put into copies of the images first where as_computed() says so.
bool run_padded(Direction direction, const Conv2DShape& s, int64_t images, const float* x,
                const ConvFilter& filter, const ConvEpilogue& epilogue, float* y) {
  const Conv2DShape padded = as_computed(s, images);
  if (padded.in_w == s.in_w)
    return run(direction, s, images, x, filter, epilogue, y);
  const int64_t line = s.in_w * s.in_c, padded_line = padded.in_w * s.in_c;
  const int64_t before = s.pad_left * s.in_c, behind = padded_line - before - line;
  const int64_t size = padded.in_h * padded_line;
  auto* const room = static_cast<float*>(
      thread_scratch(Scratch::padded, static_cast<size_t>(images * size) * sizeof(float)));
  for (int64_t image = 0; image < images; ++image)
    for (int64_t row = 0; row < padded.in_h; ++row) {
      float* to = room + image * size + row * padded_line;
      const int64_t from = row - s.pad_top;
      if (from < 0 || from >= s.in_h) {
        std::fill_n(to, padded_line, 0.0f);
        continue;
      }
      std::fill_n(to, before, 0.0f);
      std::copy_n(x + (image * s.in_h + from) * line, line, to + before);
      std::fill_n(to + before + line, behind, 0.0f);
    }
  return run(direction, padded, images, room, filter, epilogue, y);
}

} // namespace

bool onednn_conv_forward(const Conv2DShape& shape, const float* x, const ConvFilter& filter,
                         const ConvEpilogue& epilogue, float* y, int64_t begin, int64_t end) {
  return run_padded(Direction::forward, shape, end - begin, x + input_offset(shape, begin), filter,
                    epilogue, y + output_offset(shape, begin));
}

bool onednn_conv_backward_input(const Conv2DShape& shape, const ConvFilter& filter, const float* dy,
                                float* dx, int64_t begin, int64_t end) {
  const int64_t images = end - begin;
  dx += input_offset(shape, begin);
  dy += output_offset(shape, begin);
  if (can_turn(shape) && run_padded(Direction::turned, turned(shape), images, dy, filter, {}, dx))
    return true;
  return run(Direction::backward_input, shape, images, dx, filter, {}, dy);
}

bool onednn_conv_backward_filter(const Conv2DShape& shape, const float* x, const float* dy,
                                 float* dfilter, int64_t begin, int64_t end) {
  return !filter_gradient_leaves_its_scratchpad(shape) &&
         run_backward_filter(shape, end - begin, x + input_offset(shape, begin), dfilter,
                             dy + output_offset(shape, begin));
}

FilterPacking onednn_filter_packing(ConvDirection direction, const Conv2DShape& shape,
                                    int64_t images, const ConvEpilogue& epilogue) {
  const OneThread one_thread;
  std::shared_ptr<Primitive> p;
  if (direction == ConvDirection::forward)
    p = primitive(Direction::forward, as_computed(shape, images), images, bits_of(epilogue));
  else if (can_turn(shape))
    p = primitive(Direction::turned, as_computed(turned(shape), images), images);
  if (direction == ConvDirection::backward_input && p == nullptr)
    p = primitive(Direction::backward_input, shape, images);
  if (p == nullptr || !p->reorders)
    return {};
  FilterPacking out;
  out.bytes = p->filter.get_size();
  out.primitive = std::move(p);
  return out;
}

bool onednn_is_same_layout(const FilterPacking& a, const FilterPacking& b) {
  if (a.primitive == nullptr || b.primitive == nullptr)
    return false;
  const auto& one = *static_cast<const Primitive*>(a.primitive.get());
  const auto& other = *static_cast<const Primitive*>(b.primitive.get());
  return one.filter == other.filter && one.turns == other.turns;
}

void onednn_pack_filter(const FilterPacking& packing, const float* filter, void* packed) {
  const OneThread one_thread;
  const auto& p = *static_cast<const Primitive*>(packing.primitive.get());
  lay_out(p, filter, view(p.filter, packed));
  stream().wait();
}

} // namespace troupe::arith
