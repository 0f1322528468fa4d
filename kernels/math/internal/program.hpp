// ElementwiseProgram: several elementwise ops as one. Each instruction's result is computed block
// by block, so that what one leaves for the next stays in the nearest cache.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/op/elementwise_ops.hpp"
#include "kernels/arith/elementwise.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::math {

/// Operands are numbered: the inputs first, then the results of the instructions. The last result
/// is the output. Immutable.
class ElementwiseProgram {
public:
  /// What computes an op's elements; which member counts is said by the op's form.
  struct Computation {
    struct Gradient {
      arith::GradOp op = {};
      bool first = true; ///< the gradient is operand 0, not 1
    };
    arith::UnaryOp unary = {};
    arith::BinaryOp binary = {};
    Gradient gradient = {};
  };
  /// INTERNAL for an op that nothing here computes: the list of ops and the kernels disagree.
  static Result<Computation> computation_of(const ElementwiseOp& op);

  struct Instruction {
    const ElementwiseOp* op = nullptr;
    std::vector<int> operands = {};
    Computation computation = {};
  };

  /// Each line "Mul 0 3" is one instruction over operands of smaller numbers. INVALID_ARGUMENT
  /// naming the line that is none.
  static Result<ElementwiseProgram> parse(int num_inputs, std::span<const std::string> lines);

  int num_inputs() const { return num_inputs_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }

  /// Output 0 of `c` from its inputs, all float or all double, in the buffer of an input where one
  /// is free. Errors are those of the single ops.
  Status run(KernelContext& c) const;

  static constexpr std::size_t max_instructions = 64, max_inputs = 64;

private:
  struct Ready;
  class Blocks;
  void assign_registers();
  Status run_uniform(KernelContext& c) const;
  /// The input whose buffer the output of that shape may take, or -1.
  int forwardable(const KernelContext& c, std::int64_t elements) const;

  int num_inputs_ = 0;
  std::vector<Instruction> instructions_;
  bool has_bias_ = false;
  std::vector<int> registers_; ///< of each instruction's result
  int num_registers_ = 0;
  double unit_cost_ = 0; ///< nanoseconds for one element
};

} // namespace troupe::math
