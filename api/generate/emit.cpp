#include "api/generate/emit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "api/generate/names.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

std::string element_type(AttrKind kind) {
  switch (kind) {
  case AttrKind::string:
    return "std::string";
  case AttrKind::integer:
    return "std::int64_t";
  case AttrKind::real:
    return "float";
  case AttrKind::boolean:
    return "bool";
  case AttrKind::type:
    return "DType";
  case AttrKind::shape:
    return "PartialShape";
  case AttrKind::tensor:
    return "Tensor";
  case AttrKind::function:
    return "FunctionRef";
  }
  return {};
}

std::string cpp_type(AttrType type) {
  return type.list ? str_cat("std::vector<", element_type(type.kind), ">")
                   : element_type(type.kind);
}

// As a parameter: small things by value.
std::string parameter_type(AttrType type) {
  bool small = !type.list && (type.kind == AttrKind::integer || type.kind == AttrKind::real ||
                              type.kind == AttrKind::boolean || type.kind == AttrKind::type);
  return small ? cpp_type(type) : str_cat("const ", cpp_type(type), "&");
}

std::string cpp_real(float value) {
  if (std::isnan(value))
    return "std::numeric_limits<float>::quiet_NaN()";
  if (std::isinf(value))
    return str_cat(value < 0 ? "-" : "", "std::numeric_limits<float>::infinity()");
  std::string text = str_cat(value);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + "f";
}

std::string cpp_shape(const PartialShape& shape) {
  return shape.has_rank() ? str_cat("PartialShape(std::vector<std::int64_t>{",
                                    str_join(shape.dims(), ", "), "})")
                          : std::string("PartialShape()");
}

std::string element(const std::string& value) {
  return str_quote(value);
}
std::string element(std::int64_t value) {
  return str_cat(value);
}
std::string element(float value) {
  return cpp_real(value);
}
std::string element(bool value) {
  return str_cat(value);
}
std::string element(DType value) {
  return str_cat("static_cast<DType>(", static_cast<int>(value), ") /* ", to_string(value), " */");
}
std::string element(const PartialShape& value) {
  return cpp_shape(value);
}

template <class T>
std::string braced(const std::vector<T>& values) {
  std::vector<std::string> pieces;
  for (const T& value : values)
    pieces.push_back(element(value));
  return str_cat("{", str_join(pieces, ", "), "}");
}

struct Printer {
  std::string operator()(const std::string& v) const { return element(v); }
  std::string operator()(std::int64_t v) const { return element(v); }
  std::string operator()(float v) const { return element(v); }
  std::string operator()(bool v) const { return element(v); }
  std::string operator()(DType v) const { return element(v); }
  std::string operator()(const PartialShape& v) const { return element(v); }
  std::string operator()(const EmptyList&) const { return "{}"; }
  std::string operator()(const std::vector<std::string>& v) const { return braced(v); }
  std::string operator()(const std::vector<std::int64_t>& v) const { return braced(v); }
  std::string operator()(const std::vector<float>& v) const { return braced(v); }
  std::string operator()(const std::vector<bool>& v) const { return braced(v); }
  std::string operator()(const std::vector<DType>& v) const { return braced(v); }
  std::string operator()(const std::vector<PartialShape>& v) const { return braced(v); }
  std::string operator()(const auto&) const { return {}; }
};

bool is_list(const ArgDef& arg) {
  return !arg.number_attr.empty() || !arg.type_list_attr.empty();
}

// One op on its way to C++: its names, free of clashes.
class Function {
public:
  explicit Function(const OpSchema& op) : op_(op), name_(identifier(op.name)) {
    for (const ArgDef& arg : op.inputs)
      inputs_.push_back(unused(identifier(arg.name)));
    std::set<std::string> determined;
    for (const ArgDef& arg : op.inputs)
      determined.insert({arg.type_attr, arg.number_attr, arg.type_list_attr});
    for (const AttrDef& attr : op.attrs) {
      if (determined.count(attr.name))
        continue;
      if (attr.default_value)
        optional_.push_back({&attr, identifier(attr.name)});
      else
        required_.push_back({&attr, unused(identifier(attr.name))});
    }
  }

  std::string declaration() const {
    std::string out;
    if (!optional_.empty())
      out += attrs_struct();
    if (op_.outputs.size() > 1)
      out += outputs_struct();
    return str_cat(out, documentation(), head(true), ";\n\n");
  }

  std::string definition() const {
    std::string out =
        str_cat(head(false), " {\n  OpCall call(scope, ", str_quote(op_.name), ");\n");
    for (const std::string& input : inputs_)
      str_append(out, "  call.in(", input, ");\n");
    for (const Attr& attr : required_)
      str_append(out, "  call.attr(", str_quote(attr.def->name), ", ", attr.name, ");\n");
    for (const Attr& attr : optional_)
      str_append(out, "  call.attr(", str_quote(attr.def->name), ", attrs.", attr.name, ");\n");
    return str_cat(out, "  return ", result(), ";\n}\n\n");
  }

private:
  struct Attr {
    const AttrDef* def;
    std::string name;
  };

  std::string unused(std::string name) {
    while (!taken_.insert(name).second)
      name += "_";
    return name;
  }

  std::string attrs_type() const { return op_.name + "Attrs"; }

  std::string attrs_struct() const {
    std::string out = str_cat("struct ", attrs_type(), " {\n");
    for (const Attr& attr : optional_) {
      std::string value = cpp_value(*attr.def->default_value, attr.def->type);
      str_append(out, "  ", cpp_type(attr.def->type), " ", attr.name, " = ",
                 value.empty() ? "{}" : value, ";\n");
    }
    return out + "};\n";
  }

  std::string outputs_struct() const {
    std::string out = str_cat("struct ", op_.name, "Outputs {\n");
    for (const ArgDef& arg : op_.outputs)
      str_append(out, "  ", is_list(arg) ? "std::vector<Output>" : "Output", " ",
                 identifier(arg.name), ";\n");
    return out + "};\n";
  }

  std::string documentation() const {
    std::string out;
    if (!op_.doc.empty())
      for (std::string_view line : str_split(op_.doc, '\n'))
        str_append(out, "/// ", line, "\n");
    return str_cat(out, "///   ", op_.signature(), "\n");
  }

  std::string return_type() const {
    if (op_.outputs.empty())
      return "Operation";
    if (op_.outputs.size() > 1)
      return op_.name + "Outputs";
    return is_list(op_.outputs[0]) ? "std::vector<Output>" : "Output";
  }

  std::string head(bool declared) const {
    std::vector<std::string> parameters{"const Scope& scope"};
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      parameters.push_back(
          str_cat(is_list(op_.inputs[i]) ? "const InputList& " : "const Input& ", inputs_[i]));
    for (const Attr& attr : required_)
      parameters.push_back(str_cat(parameter_type(attr.def->type), " ", attr.name));
    if (!optional_.empty())
      parameters.push_back(str_cat("const ", attrs_type(), "& attrs", declared ? " = {}" : ""));
    return str_cat(return_type(), " ", name_, "(", str_join(parameters, ", "), ")");
  }

  std::string result() const {
    if (op_.outputs.empty())
      return "call.finish()";
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < op_.outputs.size(); ++i)
      pieces.push_back(str_cat(is_list(op_.outputs[i]) ? "call.list(" : "call.one(", i, ")"));
    return pieces.size() == 1 ? pieces[0] : str_cat("{", str_join(pieces, ", "), "}");
  }

  const OpSchema& op_;
  std::string name_;
  std::set<std::string> taken_{"scope", "attrs", "call"};
  std::vector<std::string> inputs_;
  std::vector<Attr> required_, optional_;
};

} // namespace

std::string cpp_value(const AttrValue& value, AttrType type) {
  // An int default may be written for a real attr, as schemas do.
  if (type.kind == AttrKind::real && !type.list)
    if (auto* integer = std::get_if<std::int64_t>(&value))
      return cpp_real(static_cast<float>(*integer));
  return std::visit(Printer{}, value);
}

OpFunctions emit_op_functions(const std::vector<const OpSchema*>& ops) {
  OpFunctions out;
  out.header = "// One function for each op of the library. Generated: change the op's own file.\n"
               "#pragma once\n\n"
               "#include <cstdint>\n#include <limits>\n#include <string>\n#include <vector>\n\n"
               "#include \"api/scope.hpp\"\n\n"
               "namespace troupe::ops {\n\n";
  out.source = "#include \"api/ops.hpp\"\n\n#include \"api/op_call.hpp\"\n\n"
               "namespace troupe::ops {\n\n";
  for (const OpSchema* op : ops) {
    Function function(*op);
    out.header += function.declaration();
    out.source += function.definition();
  }
  out.header += "} // namespace troupe::ops\n";
  out.source += "} // namespace troupe::ops\n";
  return out;
}

} // namespace troupe
