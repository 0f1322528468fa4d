// Writes ops.hpp and ops.cpp of the linked op library into the folder given.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "api/generate/emit.hpp"
#include "kernels/framework/op_library.hpp"

namespace {

// Leaves a file alone that already says so, so that nothing is compiled again for it.
bool write_if_changed(const std::string& path, const std::string& text) {
  std::ifstream old(path, std::ios::binary);
  std::ostringstream have;
  have << old.rdbuf();
  if (old && have.str() == text)
    return true;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  return static_cast<bool>(file.flush());
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<const troupe::OpSchema*> ops;
  for (const troupe::OpSchema* op : troupe::op_library().ops.all())
    if (!op->name.starts_with('_'))
      ops.push_back(op);
  troupe::OpFunctions functions = troupe::emit_op_functions(ops);
  std::string folder = argv[1];
  if (write_if_changed(folder + "/ops.hpp", functions.header) &&
      write_if_changed(folder + "/ops.cpp", functions.source))
    return 0;
  std::fprintf(stderr, "%s: cannot write ops.hpp and ops.cpp in '%s'\n", argv[0], argv[1]);
  return 1;
}
