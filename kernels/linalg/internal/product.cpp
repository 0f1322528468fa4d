// One matrix product on the device's compute threads.
#include "kernels/linalg/internal/product.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "devices/cuda/gpu.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::linalg {
namespace {

/// Rows that are finished at once: as many as fit into a near cache, and not so few that the
/// product packs its other operand too often.
std::int64_t rows_at_once(const arith::GemmShape& shape) {
  constexpr std::int64_t room = 128 << 10, least = 128;
  return std::max(room / std::max<std::int64_t>(shape.n, 1), least);
}

/// What takes some tenths of a second: longer products are cut, to look at the cancellation in
/// between.
constexpr double long_flops = 2e10;

/// Rows or columns of a product of `work` flops between two looks at the cancellation.
std::int64_t between_looks(double work, std::int64_t extent) {
  const double pieces = std::max(work / long_flops, 1.0);
  return std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(extent) / pieces), 1);
}

} // namespace

void product(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
             const void* b, void* out, const Finish* finish, double finish_cost) {
  const double work = work_of(type, shape);
  const bool by_rows = shape.m >= shape.n;
  const std::int64_t extent = by_rows ? shape.m : shape.n;
  const std::int64_t step = finish != nullptr ? rows_at_once(shape) : between_looks(work, extent);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end && !by_rows; at += step) {
      if (at > begin)
        c.stop_if_cancelled();
      arith::gemm_columns(type, shape, a, b, out, at, std::min(end, at + step));
    }
    for (std::int64_t at = begin; at < end && by_rows; at += step) {
      if (at > begin)
        c.stop_if_cancelled();
      const std::int64_t stop = std::min(end, at + step);
      arith::gemm_rows(type, shape, a, b, out, at, stop);
      if (finish != nullptr)
        (*finish)(at * shape.n, stop * shape.n);
    }
  };
  const auto blocks = std::min({static_cast<std::int64_t>(c.device().compute().threads()),
                                static_cast<std::int64_t>(2 * work / parallel_flops),
                                std::max<std::int64_t>(extent / 16, 1)});
  if (work < parallel_flops || blocks < 2) {
    run(0, extent);
  } else {
    const double ns = work / static_cast<double>(blocks) / 100; // at about 100 Gflop/s
    c.parallel_for(blocks, ns, [&](std::int64_t begin, std::int64_t end) {
      run(begin * extent / blocks, end * extent / blocks);
    });
  }
  if (!by_rows && finish != nullptr) // a block of columns is no range of elements
    c.parallel_for(shape.m * shape.n, finish_cost, *finish);
}

void products(KernelContext& c, arith::Type type, const arith::GemmShape& shape, const void* a,
              const std::int64_t* a_index, const void* b, const std::int64_t* b_index, void* out,
              std::int64_t batch) {
  const double work = work_of(type, shape);
  if ((batch < c.device().compute().threads() && work >= parallel_flops) || work >= long_flops) {
    const std::int64_t size = arith::size_of(type);
    const auto* left = static_cast<const std::byte*>(a);
    const auto* right = static_cast<const std::byte*>(b);
    auto* to = static_cast<std::byte*>(out);
    for (std::int64_t i = 0; i < batch; ++i) {
      c.stop_if_cancelled();
      product(c, type, shape, left + (a_index ? a_index[i] : i) * shape.m * shape.k * size,
              right + (b_index ? b_index[i] : i) * shape.k * shape.n * size,
              to + i * shape.m * shape.n * size);
    }
    return;
  }
  c.parallel_for(batch, work / 50, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t step = between_looks(work * static_cast<double>(end - begin), end - begin);
    for (std::int64_t at = begin; at < end; at += step) {
      if (at > begin)
        c.stop_if_cancelled();
      arith::gemm_batch(type, shape, a, a_index, b, b_index, out, at, std::min(end, at + step));
    }
  });
}

Result<MatMulAttrs> read_matmul_attrs(const PrepareContext& c) {
  TROUPE_ASSIGN(bool transpose_a, c.attr<bool>("transpose_a"));
  TROUPE_ASSIGN(bool transpose_b, c.attr<bool>("transpose_b"));
  return MatMulAttrs{transpose_a, transpose_b};
}

Result<PartialShape> infer_matmul(ShapeContext& c) {
  TROUPE_ASSIGN(bool transpose_a, c.attr<bool>("transpose_a"));
  TROUPE_ASSIGN(bool transpose_b, c.attr<bool>("transpose_b"));
  TROUPE_ASSIGN(auto a, shape_rules::dims_of_rank(c, 0, 2));
  TROUPE_ASSIGN(auto b, shape_rules::dims_of_rank(c, 1, 2));
  TROUPE_TRY(shape_rules::merge_dims(a[transpose_a ? 0 : 1], b[transpose_b ? 1 : 0]).status());
  return PartialShape{a[transpose_a ? 1 : 0], b[transpose_b ? 0 : 1]};
}

Result<arith::GemmShape> matmul_sizes(const KernelContext& c, const MatMulAttrs& attrs) {
  const Shape &a = c.input(0).shape(), &b = c.input(1).shape();
  if (a.rank() != b.rank())
    return invalid_argument(str_cat("In[0] and In[1] has different ndims: ", a, " vs. ", b));
  if (a.rank() != 2)
    return invalid_argument(str_cat("In[0] and In[1] ndims must be == 2: ", a.rank()));
  if (a[attrs.transpose_a ? 0 : 1] != b[attrs.transpose_b ? 1 : 0])
    return invalid_argument(str_cat("Matrix size-incompatible: In[0]: ", a, ", In[1]: ", b));
  return arith::GemmShape{
      .m = a[attrs.transpose_a ? 1 : 0],
      .n = b[attrs.transpose_b ? 0 : 1],
      .k = a[attrs.transpose_a ? 0 : 1],
      .transpose_a = attrs.transpose_a,
      .transpose_b = attrs.transpose_b,
  };
}

Status product_on_gpu(KernelContext& c, const arith::GemmShape& shape, const void* a, const void* b,
                      Tensor& out, std::int64_t batches, bool one_a, bool one_b) {
  if (out.num_elements() == 0)
    return {};
  if (shape.k == 0)
    return gpu::fill(c, out.mutable_raw(), 0, out.byte_size());
  TROUPE_ASSIGN(cuda::CudaStream * stream, gpu::stream_of(c));
  TROUPE_ASSIGN(cuda::Blas * blas, stream->gpu().blas());
  const cuda::CudaStream::Noted noted(*stream, c.node_name(), c.node().schema->name);
  return blas->multiply({.dtype = out.dtype(),
                         .m = shape.m,
                         .n = shape.n,
                         .k = shape.k,
                         .transpose_a = shape.transpose_a,
                         .transpose_b = shape.transpose_b,
                         .batches = batches,
                         .stride_a = one_a ? 0 : shape.m * shape.k,
                         .stride_b = one_b ? 0 : shape.k * shape.n},
                        a, b, out.mutable_raw());
}

} // namespace troupe::linalg
