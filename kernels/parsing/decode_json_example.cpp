// DecodeJSONExample: tensorflow.Example messages from JSON, whose names and forms are those of
// protobuf's mapping.
#include <cmath>
#include <limits>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "storage/message/message.hpp"

namespace troupe::parsing_decode_json_example {
namespace {

/// Bytes of base64, of either alphabet, with or without padding. False if it is none.
bool decode_base64(std::string_view text, std::string& out) {
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return false;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t digit = 0;
    if (c >= 'A' && c <= 'Z')
      digit = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      digit = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      digit = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+' || c == '-')
      digit = 62;
    else if (c == '/' || c == '_')
      digit = 63;
    else
      return false;
    bits = bits << 6 | digit;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  return true;
}

/// What the parser tells of a JSON text, written as a message as it comes. The functions' names are
/// the parser's; each returns whether to go on.
class ExampleWriter final : public nlohmann::json_sax<nlohmann::json> {
public:
  std::string take() { return example_.take(); }
  const std::string& error() const { return error_; }

  bool null() override {
    switch (at_) {
    case At::value:
      at_ = At::list; // as if it were not there
      return true;
    case At::element:
      return dtype_ == DType::string ? put(std::string()) : number_float(0, "");
    case At::list_value:
      at_ = At::feature;
      has_list_ = false;
      return true;
    case At::map_value:
      features_.message(1, MessageWriter().bytes(1, name_));
      at_ = At::map;
      return true;
    case At::features_value:
      at_ = At::example;
      return true;
    case At::feature_value:
      at_ = At::features;
      return true;
    default:
      return fail("unexpected null");
    }
  }
  bool boolean(bool) override { return fail("unexpected true or false"); }
  bool number_integer(number_integer_t value) override {
    if (!is_at_number())
      return fail("unexpected number");
    return dtype_ == DType::int64 ? put(std::int64_t{value})
                                  : put_float(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number_integer(static_cast<std::int64_t>(value));
    return number_float(static_cast<double>(value), "");
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (!is_at_number())
      return fail("unexpected number");
    return dtype_ == DType::int64 ? put_integral(value) : put_float(value);
  }
  bool string(string_t& value) override {
    if (at_ != At::value && at_ != At::element)
      return fail("unexpected string");
    if (dtype_ == DType::string) {
      std::string bytes;
      return decode_base64(value, bytes) ? put(bytes) : fail("corrupt base64");
    }
    if (const auto whole = parse_int(value); whole && dtype_ == DType::int64)
      return put(*whole);
    const bool is_infinite = value == "Infinity" || value == "-Infinity";
    const auto number = is_infinite ? std::copysign(std::numeric_limits<double>::infinity(),
                                                    value[0] == '-' ? -1.0 : 1.0)
                                    : parse_double(value);
    if (!number)
      return fail(str_cat("invalid number: '", value, "'"));
    return dtype_ == DType::int64 ? put_integral(*number) : put_float(*number);
  }
  bool binary(binary_t&) override { return fail("unexpected bytes"); }

  bool start_object(std::size_t) override {
    switch (at_) {
    case At::start:
      at_ = At::example;
      return true;
    case At::features_value:
      features_ = MessageWriter();
      at_ = At::features;
      return true;
    case At::feature_value:
      names_.clear();
      at_ = At::map;
      return true;
    case At::map_value:
      feature_ = MessageWriter();
      has_list_ = false;
      at_ = At::feature;
      return true;
    case At::list_value:
      list_ = MessageWriter();
      at_ = At::list;
      return true;
    default:
      return fail("unexpected object");
    }
  }
  bool end_object() override {
    switch (at_) {
    case At::example:
      at_ = At::end;
      return true;
    case At::features:
      example_.message(1, features_);
      at_ = At::example;
      return true;
    case At::map:
      at_ = At::features;
      return true;
    case At::feature:
      features_.message(1, MessageWriter().bytes(1, name_).message(2, feature_));
      at_ = At::map;
      return true;
    default: // of a list
      feature_.message(dtype_ == DType::string ? 1 : dtype_ == DType::float32 ? 2 : 3, list_);
      at_ = At::feature;
      return true;
    }
  }
  bool start_array(std::size_t) override {
    if (at_ != At::value)
      return fail("unexpected array");
    at_ = At::element;
    return true;
  }
  bool end_array() override {
    at_ = At::list;
    return true;
  }

  bool key(string_t& name) override {
    switch (at_) {
    case At::example:
      at_ = At::features_value;
      return name == "features" || no_field(name);
    case At::features:
      at_ = At::feature_value;
      return name == "feature" || no_field(name);
    case At::map:
      at_ = At::map_value;
      name_ = name;
      return names_.insert(name).second || fail(str_cat("repeated map key: '", name, "'"));
    case At::feature:
      return list_key(name);
    default: // of a list
      at_ = At::value;
      return name == "value" || no_field(name);
    }
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    return fail(error.what());
  }

private:
  /// Within which object, or before which value.
  enum class At : std::uint8_t {
    start,
    example,
    features_value,
    features,
    feature_value,
    map,
    map_value,
    feature,
    list_value,
    list,
    value,
    element,
    end
  };

  bool fail(std::string error) {
    error_ = std::move(error);
    return false;
  }
  bool no_field(const std::string& name) { return fail(str_cat("no such field: '", name, "'")); }

  bool list_key(const std::string& name) {
    if (name == "bytesList" || name == "bytes_list")
      dtype_ = DType::string;
    else if (name == "floatList" || name == "float_list")
      dtype_ = DType::float32;
    else if (name == "int64List" || name == "int64_list")
      dtype_ = DType::int64;
    else
      return no_field(name);
    if (has_list_)
      return fail(str_cat("'", name, "' has already been set: a feature has one list"));
    has_list_ = true;
    at_ = At::list_value;
    return true;
  }

  bool is_at_number() const {
    return (at_ == At::value || at_ == At::element) && dtype_ != DType::string;
  }
  /// After a value of the list.
  bool went_on() {
    if (at_ == At::value)
      at_ = At::list;
    return true;
  }
  bool put(const std::string& bytes) {
    list_.bytes(1, bytes);
    return went_on();
  }
  bool put(std::int64_t number) {
    list_.signed_integer(1, number);
    return went_on();
  }
  bool put_integral(double number) {
    constexpr double beyond = 9223372036854775808.0; // 2^63
    if (number != std::trunc(number))
      return fail("expected integer, but JSON number had fractional part");
    if (!(number >= -beyond && number < beyond))
      return fail("JSON number out of range for int");
    return put(static_cast<std::int64_t>(number));
  }
  bool put_float(double number) {
    if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())
      return fail("float out of range");
    list_.real(1, static_cast<float>(number));
    return went_on();
  }

  At at_ = At::start;
  DType dtype_ = DType::invalid; ///< of the list
  bool has_list_ = false;        ///< the feature
  std::string name_, error_;
  std::unordered_set<std::string> names_; ///< of the map
  MessageWriter example_, features_, feature_, list_;
};

Status compute(KernelContext& c) {
  const auto texts = c.input(0).data<std::string>();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto messages = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    c.stop_if_cancelled();
    ExampleWriter writer;
    if (!nlohmann::json::sax_parse(texts[i], &writer))
      return invalid_argument(str_cat("Error while parsing JSON: ", writer.error()));
    std::string message = writer.take();
    TROUPE_TRY(out.charge(message.size()));
    messages[i] = std::move(message);
  }
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("DecodeJSONExample")
      .input("json_examples: string")
      .output("binary_examples: string")
      .shape_fn(shape_unchanged)
      .not_differentiable("its value is text")
      .cpu_kernel(compute, {.expensive = true})
      .doc("Serialized tensorflow.Example messages from what protobuf's JSON mapping makes of "
           "them.");
}

} // namespace troupe::parsing_decode_json_example
