// DecodeProtoV2: fields of serialized messages of any type as tensors. In two passes: the values
// are counted, then they go to where there is room for the longest.
#include <algorithm>
#include <atomic>
#include <bit>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/parsing/internal/feature_map.hpp"
#include "kernels/parsing/internal/proto_fields.hpp"
#include "kernels/parsing/internal/wire.hpp"

namespace troupe::parsing_decode_proto {
namespace {

using namespace parsing;
using Field = ProtoFields::Field;

constexpr int most_nesting = 100; // of groups, as protobuf has it

struct Node {
  explicit Node(const AttrMap& attrs) : fields(attrs) {}
  ProtoFieldsOfNode fields;
  std::vector<DType> types;
  bool is_text = false, sanitizes = false;
};

Status check_types(const ProtoFields& fields, const std::vector<DType>& types) {
  for (const auto& [field, place] : fields.fields)
    if (const DType type = types[static_cast<std::size_t>(place)]; !is_compatible(field.type, type))
      return invalid_argument(str_cat("Unexpected output type for ", field.full_name, ": ",
                                      field.cpp_name, " to ", to_string(AttrValue(type))));
  return {};
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  auto out = std::make_shared<Node>(c.attrs());
  TROUPE_ASSIGN(out->types, c.attr<std::vector<DType>>("output_types"));
  TROUPE_ASSIGN(out->sanitizes, c.attr<bool>("sanitize"));
  TROUPE_ASSIGN(const auto format, c.attr<std::string>("message_format"));
  TROUPE_ASSIGN(const auto names, c.attr<std::vector<std::string>>("field_names"));
  if (format != "binary" && format != "text")
    return invalid_argument("format must be one of binary or text");
  if (names.size() != out->types.size())
    return invalid_argument("field_names and output_types attributes must have the same length");
  out->is_text = format == "text";
  TROUPE_ASSIGN(const auto fields, out->fields.at_once());
  if (fields)
    TROUPE_TRY(check_types(*fields, out->types));
  return std::shared_ptr<const void>(std::move(out));
}

/// One field of a message as it comes: a number, or text.
struct Value {
  std::uint64_t bits = 0;
  std::string_view text = {};
};

/// Passes over what follows a tag. Groups may be nested.
bool skip(WireCursor& in, std::uint64_t tag, int depth = 0) {
  std::uint64_t number = 0;
  std::uint32_t half = 0;
  std::string_view block;
  switch (static_cast<WireKind>(tag & 7)) {
  case WireKind::varint:
    return in.take_varint(number);
  case WireKind::fixed64:
    return in.take_fixed64(number);
  case WireKind::block:
    return in.take_block(block);
  case WireKind::fixed32:
    return in.take_fixed32(half);
  case WireKind::group:
    break;
  default:
    return false;
  }
  while (depth < most_nesting) {
    std::uint64_t inner = 0;
    if (!in.take_varint(inner) || inner >> 3 == 0)
      return false;
    if (inner == tag + 1) // the end of this group
      return true;
    if (!skip(in, inner, depth + 1))
      return false;
  }
  return false;
}

bool take_value(WireCursor& in, WireKind kind, std::uint64_t tag, Value& out) {
  std::uint32_t half = 0;
  switch (kind) {
  case WireKind::varint:
    return in.take_varint(out.bits);
  case WireKind::fixed64:
    return in.take_fixed64(out.bits);
  case WireKind::fixed32:
    if (!in.take_fixed32(half))
      return false;
    out.bits = half;
    return true;
  case WireKind::block:
    return in.take_block(out.text);
  default: {
    const auto* begin = reinterpret_cast<const char*>(in.position());
    if (!skip(in, tag))
      return false;
    const auto* end = reinterpret_cast<const char*>(in.position());
    std::size_t end_tag = 1;
    for (std::uint64_t rest = tag >> 7; rest != 0; rest >>= 7)
      ++end_tag;
    out.text = {begin, static_cast<std::size_t>(end - begin) - end_tag};
    return true;
  }
  }
}

Status wrong_packed(WireKind kind, std::size_t bytes) {
  return data_loss(kind == WireKind::varint
                       ? "Corrupt packed varint"
                       : str_cat("Illegal data length for packed fixed-size type: ", bytes));
}

/// Calls `use(i, value)` for each value of each wanted field; i is its place among `fields`.
template <class Use>
Status read_message(const std::vector<Field>& fields, std::string_view message, Use use) {
  WireCursor in(message);
  std::size_t next = 0; // fields mostly come in the order of their numbers
  while (!in.at_end()) {
    std::uint64_t tag = 0;
    if (!in.take_varint(tag) || tag >> 3 == 0 || tag >> 3 > 536'870'911 || (tag & 7) == 4)
      return data_loss("CountFields: Failed to consume entire buffer");
    const auto number = static_cast<int>(tag >> 3);
    if (next == fields.size() || (next > 0 && fields[next - 1].field.number >= number))
      next = 0;
    while (next < fields.size() && fields[next].field.number < number)
      ++next;
    if (next == fields.size() || fields[next].field.number != number) {
      if (!skip(in, tag))
        return data_loss("Failed skipping unrequested field");
      continue;
    }
    const WireKind wanted = wire_kind(fields[next].field.type),
                   found = static_cast<WireKind>(tag & 7);
    const bool is_packed =
        found == WireKind::block && wanted != WireKind::block && wanted != WireKind::group;
    Value value;
    if (is_packed) {
      std::string_view block;
      if (!in.take_block(block))
        return data_loss("ReadPackedValues: Skipping packed field failed");
      for (WireCursor values(block); !values.at_end();) {
        if (!take_value(values, wanted, tag, value))
          return wrong_packed(wanted, block.size());
        use(next, value);
      }
    } else if (found != wanted) {
      if (!skip(in, tag))
        return data_loss("CollectField: Failed skipping malformed field");
    } else {
      if (!take_value(in, wanted, tag, value))
        return data_loss("ReadValue: Failed skipping field when counting");
      use(next, value);
    }
  }
  return {};
}

template <class T>
T number(const MessageField& field, std::uint64_t bits) {
  if (field.type == FieldType::float_)
    return static_cast<T>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (field.type == FieldType::double_)
    return static_cast<T>(std::bit_cast<double>(bits));
  return static_cast<T>(from_wire(field.type, bits));
}

using Elements =
    Types<bool, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, float, double>;

class Decoder {
public:
  Decoder(KernelContext& c, const std::vector<Field>& fields,
          std::span<const std::string_view> messages)
      : c_(c), fields_(fields), messages_(messages), text_bytes_(fields.size()) {}

  Status run() {
    const auto count = static_cast<std::int64_t>(fields_.size());
    TROUPE_ASSIGN(sizes_, allocate(0, count));
    counts_ = sizes_.mutable_data<std::int32_t>().data();
    TROUPE_TRY(over_messages([this](std::size_t m) { return count_fields(m); }));
    for (std::size_t f = 0; f < fields_.size(); ++f)
      TROUPE_TRY(add_output(f));
    return over_messages([this](std::size_t m) { return fill_fields(m); });
  }

private:
  Result<Tensor> allocate(int output, std::int64_t last) {
    const auto prefix = c_.input(0).shape().dims();
    std::vector<std::int64_t> dims(prefix.begin(), prefix.end());
    dims.push_back(last);
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
    return c_.allocate_output(output, shape);
  }

  template <class Each>
  Status over_messages(Each each) {
    std::size_t bytes = 0;
    for (const std::string_view message : messages_)
      bytes += message.size();
    const double cost = 100 + static_cast<double>(bytes) / static_cast<double>(messages_.size());
    c_.parallel_for(static_cast<std::int64_t>(messages_.size()), cost,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t m = begin; m < end && !error_.is_before(m); ++m)
                        if (Status status = each(static_cast<std::size_t>(m)); !status.ok())
                          return error_.add(m, std::move(status));
                    });
    return error_.status();
  }

  /// Of message m and field f, in the order of the attributes.
  std::int32_t& size(std::size_t m, std::size_t f) {
    return counts_[m * fields_.size() + static_cast<std::size_t>(fields_[f].place)];
  }

  Status count_fields(std::size_t m) {
    for (std::size_t f = 0; f < fields_.size(); ++f)
      size(m, f) = 0;
    if (messages_[m].size() > INT32_MAX)
      return data_loss("CountFields: Failed to consume entire buffer");
    return read_message(fields_, messages_[m], [&](std::size_t f, const Value& value) {
      std::int32_t& count = size(m, f);
      if (count == 0 || fields_[f].field.is_repeated)
        ++count;
      text_bytes_[f].fetch_add(value.text.size(), std::memory_order_relaxed);
    });
  }

  Status add_output(std::size_t f) {
    const MessageField& field = fields_[f].field;
    std::int32_t most = 1; // so that there is a default where there is no value
    std::size_t present = 0;
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      most = std::max(most, size(m, f));
      present += static_cast<std::size_t>(size(m, f));
    }
    TROUPE_ASSIGN(Tensor values, allocate(fields_[f].place + 1, most));
    if (values.dtype() == DType::string) {
      const std::size_t missing = static_cast<std::size_t>(values.num_elements()) - present;
      TROUPE_TRY(values.charge(text_bytes_[f].load() + missing * field.text.size()));
    }
    values_.push_back(std::move(values));
    widths_.push_back(most);
    return {};
  }

  Status fill_fields(std::size_t m) {
    std::vector<std::int32_t> next(fields_.size(), 0);
    TROUPE_TRY(read_message(fields_, messages_[m], [&](std::size_t f, const Value& value) {
      put(f, at(m, f) + static_cast<std::size_t>(next[f]), value);
      if (fields_[f].field.is_repeated)
        ++next[f];
    }));
    for (std::size_t f = 0; f < fields_.size(); ++f)
      TROUPE_TRY(put_defaults(f, at(m, f) + static_cast<std::size_t>(size(m, f)), at(m + 1, f)));
    return {};
  }

  std::size_t at(std::size_t m, std::size_t f) const {
    return m * static_cast<std::size_t>(widths_[f]);
  }

  void put(std::size_t f, std::size_t at, const Value& value) {
    Tensor& to = values_[f];
    if (to.dtype() == DType::string) {
      to.mutable_data<std::string>()[at].assign(value.text);
      return;
    }
    (void)dispatch(Elements{}, to.dtype(), [&]<class T>() -> Status {
      to.mutable_data<T>()[at] = number<T>(fields_[f].field, value.bits);
      return {};
    });
  }

  Status put_defaults(std::size_t f, std::size_t begin, std::size_t end) {
    const MessageField& field = fields_[f].field;
    Tensor& to = values_[f];
    if (to.dtype() == DType::string) {
      const auto texts = to.mutable_data<std::string>();
      std::fill(texts.begin() + static_cast<std::ptrdiff_t>(begin),
                texts.begin() + static_cast<std::ptrdiff_t>(end), field.text);
      return {};
    }
    return dispatch(Elements{}, to.dtype(), [&]<class T>() -> Status {
      const T value =
          std::is_floating_point_v<T> ? static_cast<T>(field.real) : static_cast<T>(field.integer);
      const auto numbers = to.mutable_data<T>();
      std::fill(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                numbers.begin() + static_cast<std::ptrdiff_t>(end), value);
      return {};
    });
  }

  KernelContext& c_;
  const std::vector<Field>& fields_;
  std::span<const std::string_view> messages_;
  std::vector<std::atomic<std::size_t>> text_bytes_; // by field
  Tensor sizes_;
  std::int32_t* counts_ = nullptr;
  std::vector<Tensor> values_; // by field
  std::vector<std::int32_t> widths_;
  FirstError error_;
};

Status compute(KernelContext& c) {
  const auto& node = c.prepared<Node>();
  TROUPE_ASSIGN(const auto fields, node.fields.get(c));
  TROUPE_TRY(check_types(*fields, node.types));
  const auto inputs = c.input(0).data<std::string>();
  if (inputs.empty())
    return invalid_argument("Bufs argument must contain at least one value");
  std::vector<std::string_view> messages(inputs.begin(), inputs.end());
  Tensor rewritten;
  if (node.is_text || node.sanitizes) {
    TROUPE_ASSIGN(rewritten, c.allocate_temp(DType::string, c.input(0).shape()));
    const auto to = rewritten.mutable_data<std::string>();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      c.stop_if_cancelled();
      TROUPE_ASSIGN(to[i], node.is_text ? fields->schema->from_text(inputs[i])
                                        : fields->schema->sanitized(inputs[i]));
      messages[i] = to[i];
    }
  }
  return Decoder(c, fields->fields, messages).run();
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const auto types, c.attr<std::vector<DType>>("output_types"));
  const auto with = [&](std::int64_t last) {
    std::vector<std::int64_t> dims = c.input(0).dims();
    dims.push_back(last);
    return PartialShape(std::move(dims));
  };
  if (!c.input(0).has_rank())
    return shape_unknown(c);
  TROUPE_TRY(shape_rules::check_rank(std::int64_t{c.input(0).rank()} + 1));
  TROUPE_TRY(c.set_output(0, with(static_cast<std::int64_t>(types.size()))));
  for (int i = 1; i < c.num_outputs(); ++i)
    TROUPE_TRY(c.set_output(i, with(shape_rules::unknown_dim)));
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DecodeProtoV2")
      .input("bytes: string")
      .output("sizes: int32; values: output_types")
      .attr("message_type: string; field_names: list(string); output_types: list(type) >= 0; "
            "descriptor_source: string = 'local://'; message_format: string = 'binary'; "
            "sanitize: bool = false")
      .shape_fn(infer)
      .not_differentiable("its input is text")
      .cpu_kernel(compute, {.prepare = prepare, .expensive = true})
      .doc("Fields of serialized messages of a type whose descriptors come with the graph: how "
           "many values each has, and the values, with the field's default up to the longest.");
}

} // namespace troupe::parsing_decode_proto
