// The table of one instruction set.
#include "kernels/arith/isa/functions.hpp"

namespace troupe::arith::TROUPE_ISA {

extern const IsaTable table;
const IsaTable table = {
    unary,
    unary_grad,
    binary,
    select,
    cast,
    add_n,
    reduce,
    arg_reduce,
    gemm,
    conv_forward,
    conv_backward_input,
    conv_backward_filter,
    winograd_filter,
    winograd_forward,
    winograd_ranges,
    winograd_backward_filter,
    max_pool,
    avg_pool,
    max_pool_grad,
    avg_pool_grad,
    bias_add,
    bias_add_grad,
    softmax,
    log_softmax,
    softmax_grad,
    softmax_xent,
    sparse_softmax_xent,
    batch_moments,
    batch_normalise,
    batch_norm_grad_sums,
    batch_norm_grad,
    gradient_descent,
    momentum,
    adam,
};

} // namespace troupe::arith::TROUPE_ISA
