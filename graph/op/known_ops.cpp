// Reads graph/op/known_ops.txt, which tests/golden/make_known_ops.py writes: three parts (lists of
// dtypes; arguments and attributes; ops), lines that name those of earlier parts by number.
#include "graph/op/known_ops.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/base/check.hpp"
#include "core/base/strings.hpp"

namespace troupe {

extern const std::string_view known_ops_text; // generated

namespace {

class KnownOps {
public:
  KnownOps() {
    std::vector<std::string_view>* part = &lists_;
    for (std::string_view line : str_split(known_ops_text, '\n')) {
      if (line.starts_with("# "))
        continue;
      if (!line.empty())
        part->push_back(line);
      else
        part = part == &lists_ ? &pieces_ : &ops_;
    }
  }

  const OpSchema* find(std::string_view name) {
    auto at = std::ranges::lower_bound(ops_, name, {}, name_of);
    if (at == ops_.end() || name_of(*at) != name)
      return nullptr;
    std::lock_guard lock(mutex_);
    std::unique_ptr<const OpSchema>& schema = read_[name_of(*at)];
    if (!schema)
      schema = std::make_unique<const OpSchema>(read(*at));
    return schema.get();
  }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> out;
    std::ranges::transform(ops_, std::back_inserter(out), name_of);
    return out;
  }

private:
  static std::string_view name_of(std::string_view line) { return line.substr(0, line.find('\t')); }

  OpSchema read(std::string_view line) const {
    const auto fields = str_split(line, '\t');
    TROUPE_CHECK(fields.size() == 5, "a line of the known ops has five fields");
    SchemaBuilder builder(fields[0]);
    for (char flag : fields[1]) {
      switch (flag) {
      case 'S':
        builder.stateful();
        break;
      case 'c':
        builder.commutative();
        break;
      case 'a':
        builder.aggregate();
        break;
      default:
        builder.allows_uninitialized_input();
      }
    }
    return builder.input(unpacked(fields[2]))
        .output(unpacked(fields[3]))
        .attr(unpacked(fields[4]))
        .not_differentiable("this build has neither kernels nor a gradient for it")
        .build();
  }

  // "@3" is the fourth piece, in which "#1" is the second list.
  std::string unpacked(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '@' && text[i] != '#') {
        out += text[i++];
        continue;
      }
      const std::vector<std::string_view>& from = text[i] == '@' ? pieces_ : lists_;
      std::size_t number = 0;
      for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        number = number * 10 + static_cast<std::size_t>(text[i] - '0');
      out += unpacked(from.at(number));
    }
    return out;
  }

  std::vector<std::string_view> lists_, pieces_, ops_;
  std::mutex mutex_;
  std::unordered_map<std::string_view, std::unique_ptr<const OpSchema>> read_;
};

// Never destroyed: graphs point into it until the process ends.
KnownOps& known_ops() {
  static KnownOps& ops = *new KnownOps;
  return ops;
}

} // namespace

const OpSchema* find_known_op(std::string_view name) {
  return known_ops().find(name);
}

std::vector<std::string_view> known_op_names() {
  return known_ops().names();
}

} // namespace troupe
