#include <doctest/doctest.h>

#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("GenerateVocabRemapping");

namespace troupe {

using testing::FolderLines;

TEST_CASE("vocabularies: where the lines of a new one are in an old one") {
  FolderLines f;
  f.write("new", "apple\nbanana\nguava\norange\n");
  f.write("old", "orange\nguava\napple\n");
  f.write("twice", "a\na\n");
  f.write("empty", "");
  f.add(R"(
    new = Const[dtype=string, value=str[] "@/new"]()
    old = Const[dtype=string, value=str[] "@/old"]()
    twice = Const[dtype=string, value=str[] "@/twice"]()
    empty = Const[dtype=string, value=str[] "@/empty"]()
    nothing = Const[dtype=string, value=str[] ""]()
    none = Const[dtype=string, value=str[] "@/none"]()
    both = Const[dtype=string, value=str[2] "@/new" "@/old"]()
    outside = Const[dtype=string, value=str[] "/etc/hostname"]()
    all = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=4](new, old)
    part = GenerateVocabRemapping[new_vocab_offset=1, num_new_vocab=2](new, old)
    first_two = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=4, old_vocab_size=2](new, old)
    none_wanted = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=4, old_vocab_size=0](new, old)
    none_there = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=4, old_vocab_size=0](new, empty)
    no_lines = GenerateVocabRemapping[new_vocab_offset=4, num_new_vocab=0](new, old)
    beyond = GenerateVocabRemapping[new_vocab_offset=2, num_new_vocab=3](new, old)
    short = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1, old_vocab_size=4](new, old)
    same = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](new, twice)
    from_empty = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](empty, old)
    from_nothing = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](nothing, old)
    from_none = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](none, old)
    from_both = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](both, old)
    from_outside = GenerateVocabRemapping[new_vocab_offset=0, num_new_vocab=1](new, outside))");
  CHECK(f.run({"all:0", "all:1"}) == "ok i64[4] 2 -1 1 0 i32[] 3");
  CHECK(f.run({"part:0", "part:1"}) == "ok i64[2] -1 1 i32[] 1");
  CHECK(f.run({"first_two:0", "first_two:1"}) == "ok i64[4] -1 -1 1 0 i32[] 2");
  CHECK(f.run({"no_lines:0", "no_lines:1"}) == "ok i64[0] i32[] 0");
  f.fails({"beyond:0"}, "lookup table size must be larger than last new vocab entry's line");
  f.fails({"short:0"}, "Invalid vocab_size in @/old: expected 4 but got 3");
  f.fails({"none_wanted:0"}, "OUT_OF_RANGE: node 'none_wanted' (GenerateVocabRemapping): Finished "
                             "reading 0 of lines from @/old");
  f.fails({"none_there:0"}, "'@/empty' has no lines: Read less bytes than requested");
  f.fails({"same:0"}, "HashTable has different value for same key. Key a has 0 and trying to add "
                      "value 1");
  f.fails({"from_empty:0"}, "OUT_OF_RANGE");
  f.fails({"from_nothing:0"}, "new vocab filename cannot be empty.");
  f.fails({"from_none:0"}, "@/none; No such file or directory");
  f.fails({"from_both:0"}, "new_vocab_file should be a single string, but got [2]");
  f.fails({"from_outside:0"}, "PERMISSION_DENIED");
}

} // namespace troupe
