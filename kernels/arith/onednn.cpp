// oneDNN 2: f32 and bf16 products and f32 convolutions, activations plain NHWC, filters HWIO, laid out anew
// where the chosen code wants another layout and the caller has not done so. Primitives are
// immutable and cached by shape; each call brings its own scratchpad, each thread its own stream.
// The library runs on OpenMP: it is held to the calling thread, because the caller has already
// split the work.
#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/internal/scratch.hpp"
#include "kernels/arith/internal/turned_conv.hpp"
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int count);

namespace troupe::arith {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

/// Limits OpenMP to one thread for calls from this thread, and puts the old limit back.
class OneThread {
public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1)
      omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1)
      omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

private:
  int before_;
};

std::atomic<bool>& onednn_on() {
  static std::atomic<bool> on = [] {
    const char* variable = std::getenv("TROUPE_ONEDNN");
    return variable == nullptr || std::string_view(variable) != "0";
  }();
  return on;
}

const dnnl::engine& engine() {
  static const dnnl::engine the_engine(dnnl::engine::kind::cpu, 0);
  return the_engine;
}

dnnl::stream& stream() {
  static thread_local dnnl::stream the_stream(engine());
  return the_stream;
}

/// `turned`: the input's gradient as a convolution (internal/turned_conv.hpp); oneDNN's forward
/// code is the faster.
enum class Direction : int64_t { forward, backward_input, backward_filter, turned };

/// Measured: with one pixel its own code is as fast, and its filter quicker to lay out.
bool can_turn(const Conv2DShape& s) {
  return s.filter_h * s.filter_w > 1 && has_turned(s);
}

struct Descriptors {
  memory::desc x, y, filter, any_filter;
  memory::dims strides, dilations, pad_before, pad_after;

  Descriptors(const Conv2DShape& s, int64_t images)
      : x({images, s.in_c, s.in_h, s.in_w}, memory::data_type::f32, Tag::nhwc),
        y({images, s.out_c, s.out_h, s.out_w}, memory::data_type::f32, Tag::nhwc),
        filter({s.out_c, s.in_c, s.filter_h, s.filter_w}, memory::data_type::f32, Tag::hwio),
        any_filter({s.out_c, s.in_c, s.filter_h, s.filter_w}, memory::data_type::f32, Tag::any),
        strides{s.stride_h, s.stride_w}, dilations{s.dilation_h - 1, s.dilation_w - 1},
        pad_before{s.pad_top, s.pad_left}, pad_after{after(s.out_h, s.stride_h, s.filter_h,
                                                           s.dilation_h, s.in_h, s.pad_top),
                                                     after(s.out_w, s.stride_w, s.filter_w,
                                                           s.dilation_w, s.in_w, s.pad_left)} {}

  /// The filter is another convolution's, seen from its output.
  void turn_filter() {
    const memory::dims dims = filter.dims(); // of the turned one: output, input, height, width
    const int64_t pixel = dims[0] * dims[1];
    filter = memory::desc(dims, memory::data_type::f32, {dims[1], 1, dims[3] * pixel, pixel});
  }

  static int64_t after(int64_t out, int64_t stride, int64_t filter, int64_t dilation, int64_t in,
                       int64_t before) {
    return (out - 1) * stride + (filter - 1) * dilation + 1 - in - before;
  }
};

/// What is done to a result of the forward direction before it is written, as bits.
constexpr int64_t scales = 1, shifts = 2;

int64_t bits_of(const ConvEpilogue& e) {
  return (e.factor != nullptr ? scales : 0) | (e.offset != nullptr ? shifts : 0);
}

/// An offset without a factor is the convolution's own bias.
bool is_bias(int64_t epilogue) {
  return epilogue == shifts;
}

/// New until it has run once and stayed within its scratchpad; refused if it did not.
///
///   untried ── first run ─┬─ stayed within ─▶ trusted
///                         └─ left it ───────▶ refused
enum class Trust : int { untried, trusted, refused };

struct Compiled {
  dnnl::primitive run;
  memory::desc scratchpad;
  std::atomic<Trust> trust{Trust::untried};
};

struct Primitive {
  explicit Primitive(const Descriptors& descriptors) : d(descriptors) {}
  Descriptors d;
  Compiled compiled;
  dnnl::primitive reorder; // of the filter; empty where HWIO is used as it is
  memory::desc filter;
  bool reorders = false;
  bool turns = false; // the filter is another convolution's; then it always reorders
};

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

template <class Description>
bool is_reference(const Description& found) {
  return std::string_view(found.impl_info_str()).find("ref") != std::string_view::npos;
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

int64_t columns_behind(const Conv2DShape& s) {
  return std::max<int64_t>(
      Descriptors::after(s.out_w, s.stride_w, s.filter_w, s.dilation_w, s.in_w, s.pad_left), 0);
}

/// oneDNN 2.6's compiled code reads and writes beyond the rows where the filter is wider than the image,
/// or where the padding on one side is much more than on the other or more than the filter reaches:
/// wrong values, or the end of the process.
bool leaves_its_rows(const Conv2DShape& s) {
  const int64_t reach = (s.filter_w - 1) * s.dilation_w, before = s.pad_left,
                behind = columns_behind(s);
  if (before == 0 && behind == 0)
    return false;
  return reach >= s.in_w || std::abs(before - behind) > 1 || std::max(before, behind) > reach;
}

using Key = std::array<int64_t, 17>;

/// The primitive of a convolution over `images` images, from the cache or new; null where oneDNN
/// cannot or should not. The calling thread is held to itself.
std::shared_ptr<Primitive> primitive(Direction direction, const Conv2DShape& s, int64_t images,
                                     int64_t epilogue = 0) {
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

memory view(const memory::desc& desc, const void* data) {
  return memory(desc, engine(), const_cast<void*>(data));
}

using Arguments = std::unordered_map<int, memory>;

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

/// oneDNN 2.6's AVX2 code for the filter's gradient of a strided convolution of one pixel gathers the
/// pixels that it reads into its scratchpad by whole vectors, and asks for room for the channels that
/// there are: with fewer than a vector has it writes beyond the end.
bool filter_gradient_leaves_its_scratchpad(const Conv2DShape& s) {
  constexpr int64_t vector = 8;
  return s.filter_h == 1 && s.filter_w == 1 && (s.stride_h > 1 || s.stride_w > 1) &&
         s.in_c < vector;
}

/// False if `p` turned out to leave its scratchpad, now or before.
bool execute(Compiled& p, Arguments& arguments) {
  const auto run = [&](void* scratchpad) {
    arguments.insert_or_assign(DNNL_ARG_SCRATCHPAD, view(p.scratchpad, scratchpad));
    p.run.execute(stream(), arguments);
    stream().wait();
  };
  const size_t bytes = p.scratchpad.get_size();
  switch (p.trust.load(std::memory_order_relaxed)) {
  case Trust::refused:
    return false;
  case Trust::trusted:
    run(thread_scratch(Scratch::onednn, bytes));
    return true;
  case Trust::untried:
    break;
  }
  const bool stayed = runs_within(Scratch::onednn, bytes, run);
  p.trust.store(stayed ? Trust::trusted : Trust::refused, std::memory_order_relaxed);
  return stayed;
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

/// A product of matrices of bf16, summed in f32 and rounded once.
struct Product {
  memory::desc a, b, c;
  Compiled compiled;
};

/// `count` matrices, one after the other where there are several.
memory::desc matrices(int64_t count, int64_t rows, int64_t columns, int64_t stride,
                      bool transposed) {
  memory::dims dims = {rows, columns};
  memory::dims strides = transposed ? memory::dims{1, stride} : memory::dims{stride, 1};
  if (count > 1) {
    dims.insert(dims.begin(), count);
    strides.insert(strides.begin(), rows * columns);
  }
  return {dims, memory::data_type::bf16, strides};
}

std::shared_ptr<Product> make_product(const GemmBlock& g, int64_t count) {
  auto made = std::make_shared<Product>();
  made->a = matrices(count, g.m, g.k, g.lda, g.transpose_a);
  made->b = matrices(count, g.k, g.n, g.ldb, g.transpose_b);
  made->c = matrices(count, g.m, g.n, g.ldc, false);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::matmul::primitive_desc found(dnnl::matmul::desc(made->a, made->b, made->c), attr,
                                           engine());
  if (is_reference(found))
    return nullptr;
  made->compiled.run = dnnl::matmul(found);
  made->compiled.scratchpad = found.scratchpad_desc();
  return made;
}

/// From the cache or new; null where oneDNN cannot or should not.
std::shared_ptr<Product> product(const GemmBlock& g, int64_t count) {
  constexpr size_t limit = 1024;
  static std::mutex mutex;
  static std::map<std::array<int64_t, 9>, std::shared_ptr<Product>> cache;
  const std::array<int64_t, 9> key = {count, g.transpose_a, g.transpose_b, g.m,  g.n,
                                      g.k,   g.lda,         g.ldb,         g.ldc};
  std::lock_guard lock(mutex);
  if (auto found = cache.find(key); found != cache.end())
    return found->second;
  if (cache.size() >= limit)
    cache.clear();
  std::shared_ptr<Product> made;
  try {
    made = make_product(g, count);
  } catch (const dnnl::error&) {
    made = nullptr; // not a case for oneDNN; remembered as such
  }
  cache.emplace(key, made);
  return made;
}

int64_t input_offset(const Conv2DShape& s, int64_t image) {
  return image * s.in_h * s.in_w * s.in_c;
}

int64_t output_offset(const Conv2DShape& s, int64_t image) {
  return image * s.out_h * s.out_w * s.out_c;
}

/// The same convolution over images that have their padding in them, where oneDNN needs it: for what
/// leaves_its_rows() says; and its code for AVX2 takes no padding of more than three columns, and what it
/// has otherwise takes three times as long.
Conv2DShape as_computed(const Conv2DShape& s, int64_t images) {
  constexpr int64_t widest = 3,
                    most = 32 << 20; // columns; bytes of the copies, which a thread keeps
  const int64_t below = std::max<int64_t>(
      Descriptors::after(s.out_h, s.stride_h, s.filter_h, s.dilation_h, s.in_h, s.pad_top), 0);
  const int64_t right = columns_behind(s);
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

bool has_onednn() {
  return true;
}

bool onednn_in_use() {
  return onednn_on().load(std::memory_order_relaxed);
}

void use_onednn(bool on) {
  onednn_on().store(on, std::memory_order_relaxed);
}

bool onednn_gemm(const GemmBlock& g) {
  const OneThread one_thread;
  return dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, 1.0f,
                    static_cast<const float*>(g.a), g.lda, static_cast<const float*>(g.b), g.ldb,
                    g.accumulate ? 1.0f : 0.0f, static_cast<float*>(g.c), g.ldc) == dnnl_success;
}

bool onednn_gemm_bfloat16(const GemmBlock& g, int64_t count) {
  const OneThread one_thread;
  const std::shared_ptr<Product> p = product(g, count);
  if (p == nullptr)
    return false;
  try {
    Arguments arguments = {{DNNL_ARG_SRC, view(p->a, g.a)},
                           {DNNL_ARG_WEIGHTS, view(p->b, g.b)},
                           {DNNL_ARG_DST, view(p->c, g.c)}};
    return execute(p->compiled, arguments);
  } catch (const dnnl::error&) {
    return false;
  }
}

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
