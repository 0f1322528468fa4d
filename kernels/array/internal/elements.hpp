// Moving elements of any dtype between tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/movement.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::array {

using Dims = std::vector<std::int64_t>;

/// Copies `n` neighbouring elements; both tensors have one dtype.
void copy_elements(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
                   std::int64_t n);

/// What `n` elements' text will take in a copy, in bytes; 0 for plain dtypes.
std::size_t text_bytes(const Tensor& from, std::int64_t from_at, std::int64_t n);
/// Before all elements of `from` are copied to `to` by copy_elements: RESOURCE_EXHAUSTED when their
/// text has no room. The functions below that give a Status do this themselves.
Status charge_text(const Tensor& from, const Tensor& to);

/// dense[i] = strided[plan.where(i)] for every element of `dense`, on the compute threads.
Status copy_from_strided(KernelContext& c, const arith::StridedPlan& plan, const Tensor& strided,
                         Tensor& dense);
/// strided[plan.where(i)] = dense[i] for every element of `dense`.
Status copy_to_strided(KernelContext& c, const arith::StridedPlan& plan, const Tensor& dense,
                       Tensor& strided);

/// The same of plain dtypes in host memory, where the places increase; all other elements of
/// `strided` become `*value`. `dense` is not empty.
Status copy_among(KernelContext& c, const arith::StridedPlan& plan, const Tensor& dense,
                  const void* value, Tensor& strided);

/// Sets every element to the only one of `value`.
Status fill(KernelContext& c, const Tensor& value, Tensor& out);
/// Sets every element to zero, false or an empty object.
Status fill_with_zeros(KernelContext& c, Tensor& out);

// The functions above that are given a context work in a GPU's memory, too; there `value` lies as
// well.

/// A kernel that moves elements in a GPU's memory, of every dtype that is moved there but int32,
/// which TensorFlow keeps on the host. `type` names the attribute, `host_inputs` the shapes and
/// axes.
KernelOptions on_gpu(const KernelOptions& options, const char* type = "T",
                     std::vector<std::string> host_inputs = {});
/// The same kernel for int32, of tensors in host memory.
KernelOptions int32_on_host(const KernelOptions& options, const char* type = "T");

/// Copies `rows` runs of `n` elements: run r is at from_at + r * from_row, and goes to to_at + r *
/// to_row.
Status copy_runs(KernelContext& c, const Tensor& from, std::int64_t from_at, std::int64_t from_row,
                 Tensor& to, std::int64_t to_at, std::int64_t to_row, std::int64_t rows,
                 std::int64_t n);

/// Elements that a tensor adds to each row, in its order.
struct Run {
  const Tensor& from;
  std::int64_t n = 0;
};
/// Writes `rows` rows, each of the runs one after the other.
Status join_runs(KernelContext& c, const std::vector<Run>& runs, std::int64_t rows, Tensor& out);

/// A tensor as [outer, middle, inner] around one of its dimensions.
struct AroundAxis {
  std::int64_t outer = 1, middle = 1, inner = 1;
};
AroundAxis around_axis(const Shape& shape, int axis);

/// Rows [begin, end) as a view of the tensor's own buffer, if that begins where aligned memory may
/// begin and is not just a few bytes; otherwise a tensor without value.
Tensor shared_rows(const Tensor& tensor, std::int64_t begin, std::int64_t end);

/// UNIMPLEMENTED: a plan has more dimensions than movement.hpp takes.
Status too_many_dimensions(const Shape& shape);

} // namespace troupe::array
