// What the optimizers' ops share: variables given by reference or by handle, numbers given as
// scalars, and changing several variables at once.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/arith/optimizer.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::train {

/// Inputs of an optimizer's op: first the variables, then scalars, among them the gradient.
struct Inputs {
  int variables = 1;         ///< inputs 0 … variables - 1: the model's, then the optimizer's own
  int gradient = 0;          ///< index of the one that is no scalar
  int indices = -1;          ///< where rows alone are updated: index of the vector that names them
  bool adam_wording = false; ///< ApplyAdam and some others write "lr is not a scalar : [2]"
  /// Asked before the scalars are known to be scalars and the shapes to fit; null: nothing.
  Status (*check)(const KernelContext&, bool sparse) = nullptr;
  bool rows_have_elements = false; ///< rows of no elements are refused
  bool rank_of_grad = false;       ///< SparseApplyAdagrad asks for the rank first, in its own words
};

/// The shape function: scalars are scalars, and variables and gradient have one shape, which is the
/// output's. What a resource's handle refers to is not known here.
Status infer_shape(ShapeContext& c, const Inputs& inputs);

/// TensorFlow's words for a scalar in its messages: "l1 regularization strength" for l1.
std::string_view name_in_messages(std::string_view name);
/// Whether input i is a scalar for which `holds`; one that is not is "lr is not a positive scalar:
/// [2]".
Status check_scalar(const KernelContext& c, int i, std::string_view what,
                    FunctionView<bool(double)> holds);

/// The scalar input i as a number.
arith::Scalar scalar(const KernelContext& c, int i);

/// Checks the inputs, then runs `body(values, begin, end)` over ranges of the elements, perhaps on
/// several threads, while nobody else can read or write any of the variables; at the end sets the
/// output reference, if the op has one.
///
/// The variables are locked in the order of their addresses, each once even if it is given twice,
/// so that two updates that share variables cannot wait for each other. `values[i]` is the value of
/// variable i, to be changed in place; a reader's snapshot keeps the old numbers.
/// FAILED_PRECONDITION for a variable without value, INVALID_ARGUMENT for sizes that do not fit.
/// `unit_cost`: nanoseconds for one element.
Status update(KernelContext& c, const Inputs& inputs, double unit_cost,
              FunctionView<void(std::span<void* const>, std::int64_t, std::int64_t)> body);

/// The same for bodies that run once and see the values themselves. Where the inputs have indices,
/// those are checked: they name rows of the variables, and the gradient has one row for each.
Status update_locked(KernelContext& c, const Inputs& inputs,
                     FunctionView<Status(std::span<Tensor* const> values)> body);
inline constexpr std::size_t max_variables = 4; ///< of one update

/// Options of their CPU kernels: floating and complex numbers.
KernelOptions kernel_options();

inline constexpr auto any_number =
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
    "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}";
inline constexpr auto in_place = "it changes a variable in place";

} // namespace troupe::train
