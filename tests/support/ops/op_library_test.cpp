// The whole op library: signatures against TensorFlow's, a case table for every kernel.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "tests/support/ops/internal/ops_in_graphs.hpp"

namespace troupe {
namespace {

using Rows = std::map<std::string, std::vector<std::string>>;

/// The fields after the name, by op.
Rows golden_rows() {
  std::ifstream file(TROUPE_GOLDEN_DIR "/op_signatures.tsv");
  REQUIRE(file.good());
  Rows out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#'))
      continue;
    std::vector<std::string> fields;
    for (std::string_view field : str_split(line, '\t'))
      fields.emplace_back(field);
    REQUIRE(fields.size() == 5);
    out[fields[0]] = {fields.begin() + 1, fields.end()};
  }
  return out;
}

std::string flags_of(const OpSchema& schema) {
  return std::string(schema.is_stateful ? "S" : "") + (schema.is_commutative ? "c" : "") +
         (schema.is_aggregate ? "a" : "") + (schema.allows_uninitialized_input ? "u" : "");
}

std::string args_of(const std::vector<ArgDef>& args) {
  std::vector<std::string> out;
  for (const ArgDef& arg : args) {
    std::string type = !arg.type_list_attr.empty() ? arg.type_list_attr
                       : !arg.type_attr.empty()    ? arg.type_attr
                                                   : to_string(remove_ref(arg.type));
    if (!arg.number_attr.empty())
      type = arg.number_attr + "*" + type;
    out.push_back(arg.name + ":" + type + (arg.is_ref ? "&" : ""));
  }
  return str_join(out, "; ");
}

struct Write {
  std::string operator()(const std::string& s) const {
    return s == "\n" ? "'\\n'" : s == "\t" ? "'\\t'" : "'" + s + "'"; // as the golden file has it
  }
  std::string operator()(std::int64_t i) const { return str_cat(i); }
  std::string operator()(float f) const { return str_cat(f); }
  std::string operator()(bool b) const { return b ? "T" : "F"; }
  std::string operator()(DType t) const { return to_string(t); }
  std::string operator()(const PartialShape& s) const { return s.to_string(); }
  std::string operator()(const TensorBox&) const { return "tensor"; } // as the golden file has it
  std::string operator()(const EmptyList&) const { return "[]"; }
  std::string operator()(const std::vector<std::int64_t>& list) const {
    return "[" + str_join(list, ",") + "]";
  }
  std::string operator()(const std::vector<float>& list) const {
    return "[" + str_join(list, ",") + "]";
  }
  std::string operator()(const std::vector<std::string>& list) const {
    return "[" + str_join(list, ",") + "]";
  }
  std::string operator()(const std::vector<PartialShape>& list) const {
    return "[" + str_join(list, ",") + "]";
  }
  std::string operator()(const std::vector<DType>& list) const {
    std::vector<std::string> names;
    for (DType t : list)
      names.push_back(to_string(t));
    return "[" + str_join(names, ",") + "]";
  }
  template <class T>
  std::string operator()(const T&) const {
    return "(not comparable)";
  }
};

/// A value as the golden file writes it.
std::string text_of(const AttrValue& value) {
  return std::visit(Write{}, value);
}

/// "allowed" in any order, as a set.
std::string sorted_allowed(std::string_view list) {
  std::set<std::string> names;
  for (std::string_view name : str_split(list, ','))
    names.emplace(name);
  return str_join(names, ",");
}

struct Attr {
  std::string kind, fallback, allowed, minimum;
};

Attr attr_of(const AttrDef& def) {
  Attr out;
  std::string kind = def.type.to_string();
  out.kind = def.type.list ? "[" + kind.substr(5, kind.size() - 6) + "]" : kind;
  if (def.default_value)
    out.fallback = text_of(*def.default_value);
  std::vector<std::string> names;
  for (const AttrValue& value : def.allowed) {
    const auto* text = std::get_if<std::string>(&value);
    names.push_back(text ? *text : text_of(value));
  }
  out.allowed = sorted_allowed(str_join(names, ","));
  if (def.has_minimum)
    out.minimum = str_cat(def.minimum);
  return out;
}

/// Attributes of a golden row by name. Their text may hold "; " only within quotes.
std::map<std::string, Attr> golden_attrs(const std::string& text) {
  static const std::regex one(
      R"re((\w+):(\[?\w+\]?)(=('[^']*'|\[[^\]]*\]|[^ ;]+))?( allowed=\[([^\]]*)\])?( min=(-?\d+))?(; |$))re");
  std::map<std::string, Attr> out;
  for (std::sregex_iterator it(text.begin(), text.end(), one), end; it != end; ++it)
    out[(*it)[1]] = {.kind = (*it)[2],
                     .fallback = (*it)[4],
                     .allowed = sorted_allowed((*it)[6].str()),
                     .minimum = (*it)[8]};
  return out;
}

/// The numbers of "[0.75,1.33]", or the one of "0.75", as floats.
std::optional<std::vector<float>> floats_of(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']'))
    text = text.substr(1, text.size() - 2);
  std::vector<float> out;
  for (std::string_view item : str_split(text, ',')) {
    const auto number = parse_double(item);
    if (!number)
      return {};
    out.push_back(static_cast<float>(*number));
  }
  return out;
}

bool same_default(const Attr& ours, const Attr& theirs) {
  if (ours.fallback == theirs.fallback)
    return true;
  const auto a = floats_of(ours.fallback), b = floats_of(theirs.fallback);
  return (ours.kind == "float" || ours.kind == "[float]") && a && b && *a == *b;
}

void compare(const OpSchema& schema, const std::vector<std::string>& row) {
  INFO(schema.name);
  CHECK(flags_of(schema) == row[0]);
  CHECK(args_of(schema.inputs) == row[1]);
  CHECK(args_of(schema.outputs) == row[2]);
  const auto attrs = golden_attrs(row[3]);
  CHECK(schema.attrs.size() == attrs.size());
  for (const AttrDef& def : schema.attrs) {
    INFO("attr ", def.name);
    auto it = attrs.find(def.name);
    REQUIRE(it != attrs.end());
    const Attr ours = attr_of(def);
    CHECK(ours.kind == it->second.kind);
    CHECK_MESSAGE(same_default(ours, it->second), "default ", ours.fallback, ", TensorFlow's is ",
                  it->second.fallback);
    CHECK(ours.allowed == it->second.allowed);
    CHECK(ours.minimum == it->second.minimum);
  }
}

/// Ops named in the case tables beside the kernels, and those that are run in graphs there.
std::set<std::string> ops_with_cases() {
  static const std::regex named(R"re(TROUPE_OP_CASES\((\w+)\)|\.op = "(\w+)")re");
  std::set<std::string> out = testing::ops_in_graphs(TROUPE_KERNELS_DIR);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TROUPE_KERNELS_DIR)) {
    if (!entry.path().string().ends_with("_test.cpp"))
      continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it)
      out.insert((*it)[1].matched ? (*it)[1] : (*it)[2]);
  }
  return out;
}

/// Ops that no row can run, and why.
const std::map<std::string, std::string> without_cases = {
    {"_Arg", "the executor serves it"},
    {"_Retval", "the executor serves it"},
    {"_Send", "needs a rendezvous; comm_test.cpp has it"},
    {"_Recv", "needs a rendezvous; comm_test.cpp has it"},
    {"_HostSend", "needs a rendezvous; comm_test.cpp has it"},
    {"_HostRecv", "needs a rendezvous; comm_test.cpp has it"},
    {"VariableV2", "gives a reference to what the device holds; variables_test.cpp has it"},
    {"Variable", "gives a reference to what the device holds; variables_test.cpp has it"},
    {"MatchingFiles", "needs files; kernels/io/files_test.cpp has it"},
    {"MergeV2Checkpoints", "needs files; kernels/io/files_test.cpp has it"},
    {"ReadFile", "needs files; kernels/io/files_test.cpp has it"},
    {"RestoreV2", "needs files; kernels/io/files_test.cpp has it"},
    {"SaveV2", "needs files; kernels/io/files_test.cpp has it"},
    {"WriteFile", "needs files; kernels/io/files_test.cpp has it"},
    {"VarHandleOp", "gives a handle to what the device holds; variables_test.cpp has it"},
};

} // namespace

TEST_CASE("op library: every public op has TensorFlow's signature") {
  const Rows golden = golden_rows();
  for (const OpSchema* schema : op_library().ops.all()) {
    if (schema->name.starts_with('_'))
      continue;
    auto it = golden.find(schema->name);
    CHECK_MESSAGE(it != golden.end(), schema->name, " is no op of TensorFlow's");
    if (it != golden.end())
      compare(*schema, it->second);
  }
}

TEST_CASE("op library: every op with a kernel has a case table, or a reason") {
  const auto tested = ops_with_cases();
  for (const OpSchema* schema : op_library().ops.all()) {
    if (op_library().kernels.of(schema->name).empty())
      continue;
    const bool excused = without_cases.contains(schema->name);
    CHECK_MESSAGE((tested.contains(schema->name) || excused), schema->name, " has no case table");
    CHECK_MESSAGE(!(tested.contains(schema->name) && excused), schema->name,
                  " has a case table and a reason why not");
  }
}

TEST_CASE("op library: every op is documented and has a shape function") {
  for (const OpSchema* schema : op_library().ops.all()) {
    CHECK_MESSAGE(!schema->doc.empty(), schema->name, " has no documentation");
    CHECK_MESSAGE((schema->shape_fn ? true : false), schema->name, " has no shape function");
  }
}

} // namespace troupe
