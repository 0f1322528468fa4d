// troupe ops [NAME]: the op library, as this build has it.
#include <algorithm>
#include <map>

#include "core/base/json.hpp"
#include "core/base/nearest.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/claims.hpp"
#include "kernels/framework/op_library.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/table.hpp"

namespace troupe {
namespace {

std::string describe_kernel(const OpSchema& op, const KernelDef& kernel) {
  std::string out = kernel.device_type;
  for (const TypeConstraint& constraint : kernel.options.types) {
    std::vector<std::string> names;
    for (DType t : claimed_dtypes(op, constraint))
      names.push_back(to_string(t));
    str_append(out, "  ", constraint.attr, " in {", str_join(names, ", "), "}");
  }
  if (kernel.compute_async)
    out.append("  asynchronous");
  return out;
}

std::string gradient_of(const OpSchema& op) {
  return op.gradient ? "yes" : str_cat("none: ", op.not_differentiable);
}

class OpsCommand final : public Command {
public:
  std::string summary() const override { return "Lists the ops, or tells all about one"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe ops", "name, devices and one line on each op"},
            {"troupe ops MatMul", "its signature, shapes, gradient and kernels"},
            {"troupe ops --json", "the whole library, for a program"}};
  }
  void declare(Options& options) override {
    options.text("NAME", name_, "an op's name; all ops without it");
    options.flag("--json", json_, "print JSON");
  }

  int run() override {
    std::vector<const OpSchema*> ops = op_library().ops.all();
    if (!name_.empty()) {
      auto found = find_op(name_);
      if (!found)
        return failed(found.status());
      ops = {*found};
    }
    if (json_)
      print_json(ops);
    else if (!name_.empty())
      print_one(*ops[0]);
    else
      print_list(ops);
    return exit_ok;
  }

private:
  // Here all that are spelt nearly so may be meant.
  static Result<const OpSchema*> find_op(const std::string& name) {
    if (const OpSchema* found = op_library().ops.find(name))
      return found;
    std::vector<std::string> names;
    for (const OpSchema* op : op_library().ops.all())
      names.push_back(op->name);
    std::string hint = did_you_mean(name, names);
    return not_found(str_cat("this build has no op '", name, "'",
                             hint.empty() ? "; `troupe ops` lists those that it has" : hint));
  }

  static std::string devices_of(const OpSchema& op) {
    std::vector<std::string> types;
    for (const KernelDef* kernel : op_library().kernels.of(op.name))
      if (std::find(types.begin(), types.end(), kernel->device_type) == types.end())
        types.push_back(kernel->device_type);
    return types.empty() ? "no kernel" : str_join(types, " ");
  }

  static void print_list(const std::vector<const OpSchema*>& ops) {
    std::vector<std::vector<std::string>> rows;
    for (const OpSchema* op : ops)
      rows.push_back({op->name, devices_of(*op), op->doc.substr(0, op->doc.find('\n'))});
    print(str_cat(format_table(rows), rows.size(), " ops\n"));
  }

  static void print_one(const OpSchema& op) {
    std::vector<std::string> traits;
    if (op.is_stateful)
      traits.emplace_back("stateful");
    if (op.is_commutative)
      traits.emplace_back("commutative");
    if (op.is_aggregate)
      traits.emplace_back("aggregate");
    print(str_cat(op.signature(), "\n\n"));
    if (!op.doc.empty())
      print(str_cat("  ", op.doc, "\n\n"));
    std::vector<std::vector<std::string>> rows = {
        {"shapes", op.shape_fn ? "inferred before it runs" : "known only when it runs"},
        {"gradient", gradient_of(op)}};
    if (!traits.empty())
      rows.push_back({"traits", str_join(traits, ", ")});
    auto kernels = op_library().kernels.of(op.name);
    for (const KernelDef* kernel : kernels)
      rows.push_back({"kernel", describe_kernel(op, *kernel)});
    if (kernels.empty())
      rows.push_back({"kernel", "none in this build"});
    print(format_table(rows, "  "));
  }

  static void print_json(const std::vector<const OpSchema*>& ops) {
    JsonWriter w;
    w.open('[');
    for (const OpSchema* op : ops) {
      w.open('{')
          .key("name")
          .value(op->name)
          .key("signature")
          .value(op->signature())
          .key("doc")
          .value(op->doc);
      w.key("has_shape_function")
          .value(op->shape_fn != nullptr)
          .key("has_gradient")
          .value(op->gradient != nullptr);
      w.key("not_differentiable")
          .value(op->not_differentiable)
          .key("stateful")
          .value(op->is_stateful)
          .key("roles")
          .value(to_string(op->roles))
          .key("kernels")
          .open('[');
      for (const KernelDef* kernel : op_library().kernels.of(op->name))
        w.value(describe_kernel(*op, *kernel));
      w.close(']').close('}');
    }
    print(w.close(']').text() + "\n");
  }

  std::string name_;
  bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_command_ops() {
  return std::make_unique<OpsCommand>();
}

} // namespace troupe
