// Shapes, attribute values and op signatures.
#include <algorithm>

#include "core/base/strings.hpp"
#include "graph/convert/internal/proto.hpp"
#include "proto/attr_value.pb.h"
#include "proto/op.pb.h"

namespace troupe {

namespace {

using Proto = tensorflow::AttrValue;

// Of one signature: they are searched, and every call gets those with a default.
constexpr int max_attrs = 1000;

Result<FunctionRef> function_from(const tensorflow::NameAttrList& proto, DecodeBudget& budget) {
  FunctionRef function{proto.name(), nullptr};
  if (proto.attr().empty())
    return function;
  std::vector<std::pair<std::string, AttrValue>> attrs;
  for (const auto& [name, value] : proto.attr()) {
    TROUPE_ASSIGN(AttrValue held, from_proto(value, budget));
    attrs.emplace_back(name, std::move(held));
  }
  function.attrs = std::make_shared<const AttrMap>(std::move(attrs));
  return function;
}

Result<AttrValue> list_from(const Proto::ListValue& list, DecodeBudget& budget) {
  int kinds = (list.s_size() > 0) + (list.i_size() > 0) + (list.f_size() > 0) +
              (list.b_size() > 0) + (list.type_size() > 0) + (list.shape_size() > 0) +
              (list.tensor_size() > 0) + (list.func_size() > 0);
  if (kinds == 0)
    return AttrValue(EmptyList{});
  if (kinds > 1)
    return invalid_argument("a list attr has values of several kinds");
  if (list.s_size())
    return AttrValue(std::vector<std::string>(list.s().begin(), list.s().end()));
  if (list.i_size())
    return AttrValue(std::vector<std::int64_t>(list.i().begin(), list.i().end()));
  if (list.f_size())
    return AttrValue(std::vector<float>(list.f().begin(), list.f().end()));
  if (list.b_size())
    return AttrValue(std::vector<bool>(list.b().begin(), list.b().end()));
  if (list.type_size()) {
    std::vector<DType> types;
    for (int t : list.type())
      types.push_back(static_cast<DType>(t));
    return AttrValue(std::move(types));
  }
  if (list.shape_size()) {
    std::vector<PartialShape> shapes;
    for (const auto& one : list.shape()) {
      TROUPE_ASSIGN(PartialShape shape, from_proto(one));
      shapes.push_back(std::move(shape));
    }
    return AttrValue(std::move(shapes));
  }
  if (list.tensor_size()) {
    std::vector<TensorBox> tensors;
    for (const auto& one : list.tensor()) {
      TROUPE_ASSIGN(Tensor tensor, from_proto(one, budget));
      tensors.push_back({std::move(tensor)});
    }
    return AttrValue(std::move(tensors));
  }
  std::vector<FunctionRef> functions;
  for (const auto& one : list.func()) {
    TROUPE_ASSIGN(FunctionRef function, function_from(one, budget));
    functions.push_back(std::move(function));
  }
  return AttrValue(std::move(functions));
}

void function_to(const FunctionRef& function, tensorflow::NameAttrList& proto) {
  proto.set_name(function.name);
  if (function.attrs)
    for (const auto& [name, value] : *function.attrs)
      to_proto(value, (*proto.mutable_attr())[name]);
}

// Puts one value of the variant into the message.
struct Writer {
  Proto& proto;

  void operator()(std::monostate) {}
  void operator()(const std::string& s) { proto.set_s(s); }
  void operator()(std::int64_t i) { proto.set_i(i); }
  void operator()(float f) { proto.set_f(f); }
  void operator()(bool b) { proto.set_b(b); }
  void operator()(DType t) { proto.set_type(static_cast<tensorflow::DataType>(t)); }
  void operator()(const PartialShape& shape) { to_proto(shape, *proto.mutable_shape()); }
  void operator()(const TensorBox& box) {
    to_proto(box.tensor, TensorEncoding::graph, *proto.mutable_tensor());
  }
  void operator()(const FunctionRef& function) { function_to(function, *proto.mutable_func()); }
  void operator()(const AttrPlaceholder& p) { proto.set_placeholder(p.name); }
  void operator()(EmptyList) { proto.mutable_list(); }
  template <class T>
  void operator()(const std::vector<T>& values) {
    auto& list = *proto.mutable_list();
    for (const auto& value : values) {
      if constexpr (std::is_same_v<T, std::string>)
        list.add_s(value);
      else if constexpr (std::is_same_v<T, std::int64_t>)
        list.add_i(value);
      else if constexpr (std::is_same_v<T, float>)
        list.add_f(value);
      else if constexpr (std::is_same_v<T, bool>)
        list.add_b(value);
      else if constexpr (std::is_same_v<T, DType>)
        list.add_type(static_cast<tensorflow::DataType>(value));
      else if constexpr (std::is_same_v<T, PartialShape>)
        to_proto(value, *list.add_shape());
      else if constexpr (std::is_same_v<T, TensorBox>)
        to_proto(value.tensor, TensorEncoding::graph, *list.add_tensor());
      else
        function_to(value, *list.add_func());
    }
  }
};

ArgDef arg_from(const tensorflow::OpDef::ArgDef& proto) {
  return {proto.name(),        static_cast<DType>(proto.type()),
          proto.type_attr(),   proto.type_list_attr(),
          proto.number_attr(), proto.is_ref()};
}

void arg_to(const ArgDef& arg, tensorflow::OpDef::ArgDef& proto) {
  proto.set_name(arg.name);
  proto.set_type(static_cast<tensorflow::DataType>(arg.type));
  proto.set_type_attr(arg.type_attr);
  proto.set_type_list_attr(arg.type_list_attr);
  proto.set_number_attr(arg.number_attr);
  proto.set_is_ref(arg.is_ref);
}

Result<AttrType> attr_type_from(std::string_view text) {
  AttrType type;
  std::string_view kind = text;
  if (kind.starts_with("list(") && kind.ends_with(")")) {
    type.list = true;
    kind = kind.substr(5, kind.size() - 6);
  }
  for (int i = 0; i <= static_cast<int>(AttrKind::function); ++i) {
    type.kind = static_cast<AttrKind>(i);
    if (AttrType{type.kind, false}.to_string() == kind)
      return type;
  }
  return invalid_argument(str_cat("'", text, "' is not the type of an attr"));
}

Status check_arg(const OpSchema& schema, const ArgDef& arg) {
  auto is_kind = [&](const std::string& name, AttrType type) {
    const AttrDef* def = schema.find_attr(name);
    return def && def->type == type;
  };
  int said = (arg.type != DType::invalid) + !arg.type_attr.empty() + !arg.type_list_attr.empty();
  bool good = said == 1 && (arg.type == DType::invalid || is_known(arg.type)) &&
              (arg.type_attr.empty() || is_kind(arg.type_attr, {AttrKind::type, false})) &&
              (arg.type_list_attr.empty() || is_kind(arg.type_list_attr, {AttrKind::type, true})) &&
              (arg.number_attr.empty() || (is_kind(arg.number_attr, {AttrKind::integer, false}) &&
                                           arg.type_list_attr.empty()));
  if (good)
    return {};
  return invalid_argument(str_cat("argument '", arg.name, "' of '", schema.name,
                                  "' does not say its dtype in one way: by a dtype, a type attr or "
                                  "a list(type) attr of the signature"));
}

} // namespace

Result<PartialShape> from_proto(const tensorflow::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (proto.dim_size())
      return invalid_argument("a shape of unknown rank has dimensions");
    return PartialShape();
  }
  if (proto.dim_size() > Shape::max_rank)
    return invalid_argument(str_cat("a shape has ", proto.dim_size(), " dimensions, and at most ",
                                    Shape::max_rank, " are possible"));
  std::vector<std::int64_t> dims;
  dims.reserve(static_cast<std::size_t>(proto.dim_size()));
  std::int64_t product = 1;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < -1)
      return invalid_argument(str_cat("a shape has dimension ", dim.size(),
                                      "; dimensions are -1 (unknown), 0 or more"));
    if (dim.size() > 0 && __builtin_mul_overflow(product, dim.size(), &product))
      return invalid_argument("a shape has more than 2^63 - 1 elements");
    dims.push_back(dim.size());
  }
  return PartialShape(std::move(dims));
}

void to_proto(const PartialShape& shape, tensorflow::TensorShapeProto& proto) {
  proto.Clear();
  if (!shape.has_rank()) {
    proto.set_unknown_rank(true);
    return;
  }
  for (std::int64_t dim : shape.dims())
    proto.add_dim()->set_size(dim);
}

// Nested functions recurse; parsing has bounded how deep.
Result<AttrValue> from_proto(const Proto& proto, DecodeBudget& budget) {
  switch (proto.value_case()) {
  case Proto::kS:
    return AttrValue(proto.s());
  case Proto::kI:
    return AttrValue(static_cast<std::int64_t>(proto.i()));
  case Proto::kF:
    return AttrValue(proto.f());
  case Proto::kB:
    return AttrValue(proto.b());
  case Proto::kType:
    return AttrValue(static_cast<DType>(proto.type()));
  case Proto::kShape: {
    TROUPE_ASSIGN(PartialShape shape, from_proto(proto.shape()));
    return AttrValue(std::move(shape));
  }
  case Proto::kTensor: {
    TROUPE_ASSIGN(Tensor tensor, from_proto(proto.tensor(), budget));
    return AttrValue(TensorBox{std::move(tensor)});
  }
  case Proto::kPlaceholder:
    return AttrValue(AttrPlaceholder{proto.placeholder()});
  case Proto::kFunc: {
    TROUPE_ASSIGN(FunctionRef function, function_from(proto.func(), budget));
    return AttrValue(std::move(function));
  }
  case Proto::kList:
    return list_from(proto.list(), budget);
  case Proto::VALUE_NOT_SET:
    break;
  }
  return AttrValue();
}

void to_proto(const AttrValue& value, Proto& proto) {
  proto.Clear();
  std::visit(Writer{proto}, value);
}

Result<OpSchema> from_proto(const tensorflow::OpDef& proto, DecodeBudget& budget) {
  if (proto.attr_size() > max_attrs)
    return invalid_argument(str_cat("a signature has ", proto.attr_size(), " attrs, and at most ",
                                    max_attrs, " are possible"));
  OpSchema out;
  out.name = proto.name();
  out.is_stateful = proto.is_stateful();
  out.is_commutative = proto.is_commutative();
  out.is_aggregate = proto.is_aggregate();
  out.allows_uninitialized_input = proto.allows_uninitialized_input();
  out.doc = proto.summary();
  for (const auto& one : proto.attr()) {
    AttrDef def;
    def.name = one.name();
    TROUPE_ASSIGN(def.type, attr_type_from(one.type()));
    def.has_minimum = one.has_minimum();
    def.minimum = one.minimum();
    if (one.has_default_value()) {
      TROUPE_ASSIGN(def.default_value, from_proto(one.default_value(), budget));
      TROUPE_TRY(check_attr_type(*def.default_value, def.type, def.name));
    }
    for (int t : one.allowed_values().list().type())
      def.allowed.push_back(static_cast<DType>(t));
    for (const std::string& s : one.allowed_values().list().s())
      def.allowed.push_back(s);
    out.attrs.push_back(std::move(def));
  }
  for (const auto& arg : proto.input_arg())
    out.inputs.push_back(arg_from(arg));
  for (const auto& arg : proto.output_arg())
    out.outputs.push_back(arg_from(arg));
  for (const ArgDef& arg : out.inputs)
    TROUPE_TRY(check_arg(out, arg));
  for (const ArgDef& arg : out.outputs)
    TROUPE_TRY(check_arg(out, arg));
  return out;
}

void to_proto(const OpSchema& schema, tensorflow::OpDef& proto) {
  proto.Clear();
  proto.set_name(schema.name);
  proto.set_summary(schema.doc);
  proto.set_is_stateful(schema.is_stateful);
  proto.set_is_commutative(schema.is_commutative);
  proto.set_is_aggregate(schema.is_aggregate);
  proto.set_allows_uninitialized_input(schema.allows_uninitialized_input);
  for (const ArgDef& arg : schema.inputs)
    arg_to(arg, *proto.add_input_arg());
  for (const ArgDef& arg : schema.outputs)
    arg_to(arg, *proto.add_output_arg());
  for (const AttrDef& def : schema.attrs) {
    auto& attr = *proto.add_attr();
    attr.set_name(def.name);
    attr.set_type(def.type.to_string());
    attr.set_has_minimum(def.has_minimum);
    attr.set_minimum(def.minimum);
    if (def.default_value)
      to_proto(*def.default_value, *attr.mutable_default_value());
    for (const AttrValue& value : def.allowed) {
      auto& list = *attr.mutable_allowed_values()->mutable_list();
      if (auto* t = std::get_if<DType>(&value))
        list.add_type(static_cast<tensorflow::DataType>(*t));
      else if (auto* s = std::get_if<std::string>(&value))
        list.add_s(*s);
    }
  }
}

} // namespace troupe
