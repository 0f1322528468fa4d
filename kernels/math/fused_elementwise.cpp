// _FusedElementwise: what the pass fuse_elementwise makes of elementwise ops that only each other
// read.
#include <mutex>
#include <unordered_map>

#include "core/base/strings.hpp"
#include "kernels/framework/members.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/math/elementwise_program.hpp"

namespace troupe::math_fused_elementwise {
namespace {

using Lines = std::vector<std::string>;

// Nodes whose programs are equal share one, so that a step of many such nodes finds it in the
// core's cache, and a graph of many is quick to compile. Kept as long as a node has it.
class SharedPrograms {
public:
  using Program = math::ElementwiseProgram;

  Result<std::shared_ptr<const void>> find_or_make(int num_inputs, const Lines& lines,
                                                   DType dtype) {
    std::string key = str_cat(to_string(dtype), " ", num_inputs);
    for (const std::string& line : lines)
      str_append(key, "\n", line);
    std::scoped_lock guard(lock_);
    if (auto known = known_.find(key); known != known_.end())
      if (std::shared_ptr<const Program> program = known->second.lock())
        return std::shared_ptr<const void>(std::move(program));
    TROUPE_ASSIGN(Program made, Program::parse(num_inputs, lines));
    TROUPE_TRY(made.bind(dtype));
    auto program = std::make_shared<const Program>(std::move(made));
    if (known_.size() >= purge_at_) {
      std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
      purge_at_ = 2 * known_.size() + 64;
    }
    known_[std::move(key)] = program;
    return std::shared_ptr<const void>(std::move(program));
  }

private:
  std::mutex lock_;
  std::unordered_map<std::string, std::weak_ptr<const Program>> known_;
  std::size_t purge_at_ = 64; // entries that nobody has any more go when there are that many
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  static SharedPrograms& programs =
      *new SharedPrograms; // nodes may outlive any order of destruction
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  return programs.find_or_make(c.num_inputs(), lines, c.output_type(0));
}

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(Lines lines, c.attr<Lines>("program"));
  TROUPE_ASSIGN(auto program, math::ElementwiseProgram::parse(c.num_inputs(), lines));
  std::vector<PartialShape> shapes;
  for (int i = 0; i < c.num_inputs(); ++i)
    shapes.push_back(c.input(i));
  TROUPE_ASSIGN(PartialShape shape, program.infer_shape(std::move(shapes)));
  return c.set_output(0, std::move(shape));
}

Status compute(KernelContext& c) {
  const auto& program = c.prepared<math::ElementwiseProgram>();
  Status status = program.run(c);
  return status.ok() ? status : of_member(c, status, program.failed_at(c));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = {{"T", {DType::float32, DType::float64}}};
  options.prepare = prepare;
  options.expensive = true;
  library.op("_FusedElementwise")
      .input("inputs: N * T")
      .output("output: T")
      .attr("N: int >= 1; T: {float, double}; program: list(string) >= 1")
      .shape_fn(infer_shape)
      .not_differentiable("it is made of ops that are, after their gradients were added")
      .cpu_kernel(compute, std::move(options))
      .doc("Several elementwise ops as one: each line of the program is an op and the numbers of "
           "its operands, inputs first, then results of earlier lines.");
}

} // namespace troupe::math_fused_elementwise
