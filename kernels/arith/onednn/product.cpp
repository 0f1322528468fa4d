// Products of matrices: f32 by the library's own gemm, bf16 by primitives cached by shape.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "kernels/arith/internal/onednn.hpp"
#include "kernels/arith/onednn/library.hpp"

namespace troupe::arith {
namespace {

using namespace onednn;
using dnnl::memory;

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

} // namespace

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

} // namespace troupe::arith
