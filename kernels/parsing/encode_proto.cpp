// EncodeProto: serialized messages of any type from tensors with the values of their fields.
#include <bit>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/parsing/internal/proto_fields.hpp"
#include "storage/message/message.hpp"

namespace troupe::parsing_encode_proto {
namespace {

using namespace parsing;
using Field = ProtoFields::Field;

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  auto out = std::make_shared<ProtoFieldsOfNode>(c.attrs());
  TROUPE_TRY(out->at_once().status());
  return std::shared_ptr<const void>(std::move(out));
}

/// The element as the bits of a number of 64 bits; of a float field those of its float.
std::uint64_t bits_of(const MessageField& field, const Tensor& values, std::size_t i) {
  switch (values.dtype()) {
  case DType::bool_:
    return values.data<bool>()[i] ? 1 : 0;
  case DType::int32:
    return static_cast<std::uint64_t>(std::int64_t{values.data<std::int32_t>()[i]});
  case DType::int64:
    return static_cast<std::uint64_t>(values.data<std::int64_t>()[i]);
  case DType::uint32:
    return values.data<std::uint32_t>()[i];
  case DType::uint64:
    return values.data<std::uint64_t>()[i];
  case DType::float32:
    return std::bit_cast<std::uint32_t>(values.data<float>()[i]);
  default: {
    const double value = values.data<double>()[i];
    return field.type == FieldType::float_ ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                           : std::bit_cast<std::uint64_t>(value);
  }
  }
}

void append_number(MessageWriter& to, FieldType type, std::uint64_t bits) {
  const std::uint64_t written = to_wire(type, bits);
  switch (wire_kind(type)) {
  case WireKind::fixed32: {
    const auto half = static_cast<std::uint32_t>(written);
    to.raw(&half, sizeof half);
    return;
  }
  case WireKind::fixed64:
    to.raw(&written, sizeof written);
    return;
  default:
    to.varint(written);
  }
}

/// Values [begin, begin + count) of one field of one message.
void append_field(MessageWriter& to, const MessageField& field, const Tensor& values,
                  std::size_t begin, std::size_t count) {
  const auto tag = [&](WireKind kind) {
    to.varint(static_cast<std::uint64_t>(field.number) << 3 | static_cast<unsigned>(kind));
  };
  if (values.dtype() == DType::string) {
    for (const std::string& text : values.data<std::string>().subspan(begin, count)) {
      if (field.type == FieldType::group) {
        tag(WireKind::group);
        to.raw(text.data(), text.size());
        to.varint(static_cast<std::uint64_t>(field.number) << 3 | 4);
      } else {
        to.bytes(field.number, text);
      }
    }
    return;
  }
  MessageWriter packed;
  for (std::size_t i = begin; i < begin + count; ++i) {
    if (!field.is_packed)
      tag(wire_kind(field.type));
    append_number(field.is_packed ? packed : to, field.type, bits_of(field, values, i));
  }
  if (field.is_packed)
    to.message(field.number, packed);
}

/// Input 1 + place: values of a field.
Status check_values(const KernelContext& c, const Field& field, const std::string& name,
                    const Shape& prefix) {
  const Tensor& values = c.input(1 + field.place);
  if (!is_compatible(field.field.type, values.dtype()))
    return invalid_argument(str_cat("Incompatible type for field ", name,
                                    ".  Saw dtype: ", to_string(values.dtype()),
                                    " but field type is: ", field.field.type_name));
  const Shape& shape = values.shape();
  if (shape.rank() < 2)
    return invalid_argument(str_cat("Invalid shape for field ", name, ".  Saw shape ", shape,
                                    " but it should be at least a matrix."));
  if (shape.without(shape.rank() - 1) != prefix)
    return invalid_argument("Values must match up to the last dimension");
  return {};
}

Status check_sizes(const KernelContext& c, std::size_t fields, const Shape& prefix) {
  const Tensor& sizes = c.input(0);
  const Shape expected = prefix.with_appended(static_cast<std::int64_t>(fields));
  if (sizes.shape() != expected)
    return invalid_argument(str_cat("sizes should be batch_size + [len(field_names)].  Saw: ",
                                    sizes.shape(), " but expected: ", expected));
  const auto all = sizes.data<std::int32_t>();
  for (std::size_t f = 0; f < fields; ++f) {
    const Shape& shape = c.input(1 + static_cast<int>(f)).shape();
    const std::int64_t most = shape.dim(shape.rank() - 1);
    for (std::size_t m = 0; m * fields + f < all.size(); ++m)
      if (all[m * fields + f] > most)
        return invalid_argument(str_cat(
            "Size to write must not be larger than value tensor; but saw: ", all[m * fields + f],
            " > ", most, " at message ", m, " field ", f));
  }
  return {};
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const auto found, c.prepared<ProtoFieldsOfNode>().get(c));
  const std::vector<Field>& fields = found->fields;
  TROUPE_ASSIGN(const auto names, c.attr<std::vector<std::string>>("field_names"));
  if (static_cast<int>(fields.size()) != c.num_inputs() - 1)
    return invalid_argument("Length of inputs list must match field_names");
  const Shape& first = c.input(1).shape();
  const Shape prefix = first.rank() < 1 ? Shape{} : first.without(first.rank() - 1);
  for (const Field& field : fields)
    TROUPE_TRY(check_values(c, field, names[static_cast<std::size_t>(field.place)], prefix));
  TROUPE_TRY(check_sizes(c, fields.size(), prefix));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, prefix));
  const auto messages = out.mutable_data<std::string>();
  const auto sizes = c.input(0).data<std::int32_t>();
  for (std::size_t m = 0; m < messages.size(); ++m) {
    c.stop_if_cancelled();
    MessageWriter message;
    for (const auto& [field, place] : fields) {
      const auto p = static_cast<std::size_t>(place);
      const std::int32_t count = sizes[m * fields.size() + p];
      const Tensor& values = c.input(1 + place);
      const auto width = static_cast<std::size_t>(values.shape().dim(values.shape().rank() - 1));
      if (count > 0)
        append_field(message, field, values, m * width, static_cast<std::size_t>(count));
    }
    TROUPE_TRY(out.charge(message.text().size()));
    messages[m] = message.take();
  }
  return {};
}

Status infer(ShapeContext& c) {
  PartialShape out;
  for (int i = 1; i < c.num_inputs(); ++i) {
    TROUPE_TRY(c.require_rank_at_least(i, 2));
    if (!c.input(i).has_rank())
      continue;
    std::vector<std::int64_t> dims = c.input(i).dims();
    dims.pop_back();
    TROUPE_ASSIGN(out, shape_rules::merge_shapes(PartialShape(std::move(dims)), out));
  }
  return c.set_output(0, out);
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("EncodeProto")
      .input("sizes: int32; values: Tinput_types")
      .output("bytes: string")
      .attr("field_names: list(string); message_type: string; "
            "descriptor_source: string = 'local://'; Tinput_types: list(type) >= 1")
      .shape_fn(infer)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("Serialized messages of a type whose descriptors come with the graph, with so many "
           "values of each field as `sizes` says.");
}

} // namespace troupe::parsing_encode_proto
