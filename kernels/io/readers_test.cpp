// Readers in graphs: what each kind makes of files, one file after the other, and what is said
// where there is nothing to read.
#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <set>
#include <thread>

#include "kernels/io/internal/reader.hpp"
#include "storage/records/records.hpp"
#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("WholeFileReader WholeFileReaderV2 TextLineReader TextLineReaderV2",
                     "FixedLengthRecordReader FixedLengthRecordReaderV2 TFRecordReader",
                     "TFRecordReaderV2 IdentityReader IdentityReaderV2 LMDBReader ReaderRead",
                     "ReaderReadV2 ReaderReadUpTo ReaderReadUpToV2 ReaderNumRecordsProduced",
                     "ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted",
                     "ReaderNumWorkUnitsCompletedV2 ReaderReset ReaderResetV2",
                     "ReaderSerializeState ReaderSerializeStateV2 ReaderRestoreState",
                     "ReaderRestoreStateV2");

namespace troupe {
namespace {

using testing::FolderLines;

/// A reader, in the old or the new form, its queue, and what is done with them; `names` are the
/// files that "put" puts into the queue.
std::string reader_graph(std::string_view kind, std::string_view attrs, std::string_view names,
                         std::string_view v = "V2") {
  const auto count = std::ranges::count(names, '"') / 2;
  return str_cat("q = FIFOQueue", v, "[component_types=[string], shapes=[[]]]()\nr = ", kind, v,
                 "[", attrs, "]()\n  names = Const[dtype=string, value=str[", count, "] ", names,
                 "]()\n  put = QueueEnqueueMany", v, "(q, names)\n  close = QueueClose", v,
                 "(q)\n  read = ReaderRead", v, "(r, q)\n", R"(
    two = Const[dtype=int64, value=i64[] 2]()
    none = Const[dtype=int64, value=i64[] 0]()
    negative = Const[dtype=int64, value=i64[] -1]()
    pair = Const[dtype=int64, value=i64[2] 1 1]()
    up_to = ReaderReadUpTo)",
                 v, "(r, q, two)\n  no_more = ReaderReadUpTo", v,
                 "(r, q, none)\n  less = ReaderReadUpTo", v, "(r, q, negative)\n", R"(
    records = ReaderNumRecordsProduced)",
                 v, "(r)\n  units = ReaderNumWorkUnitsCompleted", v, "(r)\n  reset = ReaderReset",
                 v, "(r)\n  state = ReaderSerializeState", v, "(r)\n  size = QueueSize", v,
                 "(q)\n");
}

const std::vector<std::string> key_and_value = {"read:0", "read:1"};

std::string records(const std::vector<std::string>& texts, Compression how) {
  std::string out;
  RecordWriter writer(
      [&](std::span<const std::byte> bytes) {
        out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status{};
      },
      how);
  for (const std::string& text : texts)
    REQUIRE(writer.write(text).ok());
  REQUIRE(writer.finish().ok());
  return out;
}

} // namespace

TEST_CASE("readers: names of files, in both forms, counted") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    FolderLines f;
    f.add(reader_graph("IdentityReader", "", R"("a" "b" "c")", v));
    CHECK(f.run({"records", "units"}) == "ok i64[] 0 i64[] 0");
    CHECK(f.run({"^put"}) == "ok");
    CHECK(f.run({"^close"}) == "ok");
    CHECK(f.run(key_and_value) == "ok str[] \"a\" str[] \"a\"");
    CHECK(f.run({"records", "units"}) == "ok i64[] 1 i64[] 1");
    CHECK(f.run({"up_to:0", "up_to:1"}) == "ok str[1] \"b\" str[1] \"b\"");
    CHECK(f.run({"no_more:0"}) == "ok str[0]");
    CHECK(f.run(key_and_value) == "ok str[] \"c\" str[] \"c\"");
    CHECK(f.fails(key_and_value, "is closed and has insufficient elements (requested 1, current "
                                 "size 0)"));
    CHECK(f.run({"records", "units"}) == "ok i64[] 3 i64[] 3");
    CHECK(f.run({"^reset"}) == "ok");
    CHECK(f.run({"records", "units"}) == "ok i64[] 0 i64[] 0");
    f.fails({"less:0"}, "num_records must be >= 0, but is -1");
  }
}

TEST_CASE("readers: whole files") {
  FolderLines f;
  f.write("a", "one\ntwo");
  f.write("b", "");
  f.add(reader_graph("WholeFileReader", "", R"("@/a" "@/b" "@/none")"));
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/a" str[] "one\ntwo")");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/b" str[] "")");
  f.fails(key_and_value,
          "NOT_FOUND: node 'read' (ReaderReadV2): @/none; No such file or directory");
  f.write("none", "now it is there");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/none" str[] "now it is there")");
  CHECK(f.run({"records", "units"}) == "ok i64[] 3 i64[] 3");
}

TEST_CASE("readers: lines, without the first ones") {
  FolderLines f;
  f.write("a", "head\n1\r\n\n2");
  f.write("b", "head");
  f.write("c", "head\n3\n");
  f.add(reader_graph("TextLineReader", "skip_header_lines=1", R"("@/a" "@/b" "@/c")"));
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"^close"}) == "ok");
  CHECK(f.run({"up_to:0", "up_to:1"}) == R"(ok str[2] "@/a:2" "@/a:3" str[2] "1" "")");
  CHECK(f.run({"up_to:0", "up_to:1"}) == R"(ok str[1] "@/a:4" str[1] "2")");
  CHECK(f.run({"units"}) == "ok i64[] 1");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/c:2" str[] "3")");
  CHECK(f.run({"units"}) == "ok i64[] 2");
  CHECK_FALSE(f.run(key_and_value).starts_with("ok"));
  CHECK(f.run({"records", "units"}) == "ok i64[] 4 i64[] 3");
}

TEST_CASE("readers: TFRecord files of each kind, whole and damaged") {
  for (auto [name, how] : {std::pair{"", Compression::none},
                           {"ZLIB", Compression::zlib},
                           {"GZIP", Compression::gzip}}) {
    CAPTURE(name);
    FolderLines f;
    f.write("a", records({"one", std::string(100, 'x')}, how));
    f.write("b", records({}, how));
    f.write("c", records({"three"}, how));
    f.add(reader_graph("TFRecordReader", str_cat("compression_type=\"", name, "\""),
                       R"("@/a" "@/b" "@/c")"));
    CHECK(f.run({"^put"}) == "ok");
    CHECK(f.run(key_and_value) == R"(ok str[] "@/a:0" str[] "one")");
    CHECK(f.run({"up_to:0"}) == R"(ok str[1] "@/a:19")");
    CHECK(f.run(key_and_value) == R"(ok str[] "@/c:0" str[] "three")");
  }
  FolderLines f;
  const std::string whole = records({"one", "two"}, Compression::none);
  f.write("cut", whole.substr(0, 33));
  f.write("b", records({"three"}, Compression::none));
  f.add(reader_graph("TFRecordReader", "", R"("@/cut" "@/b")"));
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/cut:0" str[] "one")");
  for (int i = 0; i < 2; ++i) // until somebody resets the reader
    f.fails(key_and_value, "DATA_LOSS: node 'read' (ReaderReadV2): truncated record at 19'");
  CHECK(f.run({"^reset"}) == "ok");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/b:0" str[] "three")");
}

TEST_CASE("readers: records of one size between header and footer") {
  struct Case {
    std::string_view attrs, content, values;
  };
  for (const Case& c : {
           Case{"record_bytes=3", "abcdefgh", R"(str[2] "abc" "def")"},
           Case{"record_bytes=3, header_bytes=2", "HHabcdef", R"(str[2] "abc" "def")"},
           Case{"record_bytes=3, footer_bytes=2", "abcdefFF", R"(str[2] "abc" "def")"},
           Case{"record_bytes=3, footer_bytes=2", "abcdefF", R"(str[1] "abc")"},
           Case{"record_bytes=3, hop_bytes=1", "abcd", R"(str[2] "abc" "bcd")"},
           Case{"record_bytes=2, hop_bytes=4", "ab--cd--", R"(str[2] "ab" "cd")"},
           Case{"record_bytes=2, hop_bytes=5, footer_bytes=1", "ab---cdF", R"(str[2] "ab" "cd")"},
           Case{"record_bytes=2, header_bytes=1, hop_bytes=1, footer_bytes=1", "HabcF",
                R"(str[2] "ab" "bc")"},
       }) {
    CAPTURE(c.attrs);
    for (std::string_view encoding : {"", "ZLIB", "GZIP"}) {
      FolderLines f;
      std::string content(c.content);
      if (!encoding.empty()) {
        std::string out;
        Deflater deflater(
            [&](std::span<const std::byte> bytes) {
              out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
              return Status{};
            },
            *parse_compression(encoding));
        REQUIRE(deflater.append(std::as_bytes(std::span(content))).ok());
        REQUIRE(deflater.finish().ok());
        content = out;
      }
      f.write("a", content);
      f.add(reader_graph("FixedLengthRecordReader",
                         str_cat(c.attrs, ", encoding=\"", encoding, "\""), R"("@/a" "@/a")"));
      CHECK(f.run({"^put"}) == "ok");
      CHECK(f.run({"up_to:1"}) == str_cat("ok ", c.values));
    }
  }
  FolderLines f;
  f.write("short", "HH");
  f.write("b", "HHHabc");
  f.add(reader_graph("FixedLengthRecordReader", "record_bytes=3, header_bytes=3",
                     R"("@/short" "@/b")"));
  CHECK(f.run({"^put"}) == "ok");
  f.fails(key_and_value, "OUT_OF_RANGE: node 'read' (ReaderReadV2): reached end of file");
  CHECK(f.run(key_and_value) == R"(ok str[] "@/b:0" str[] "abc")");
}

TEST_CASE("readers: a record of more bytes than there is memory is refused or not there") {
  FolderLines f;
  f.write("a", "abc");
  f.add(reader_graph("FixedLengthRecordReader", "record_bytes=4611686018427387904", R"("@/a")"));
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run({"^close"}) == "ok");
  f.fails(key_and_value, "OUT_OF_RANGE");
}

TEST_CASE("readers: attributes that make no sense") {
  FolderLines f;
  f.add(R"(
    lines = TextLineReaderV2[skip_header_lines=-1]()
    header = FixedLengthRecordReaderV2[record_bytes=1, header_bytes=-1]()
    record = FixedLengthRecordReaderV2[record_bytes=-1]()
    footer = FixedLengthRecordReaderV2[record_bytes=1, footer_bytes=-2]()
    hop = FixedLengthRecordReaderV2[record_bytes=1, hop_bytes=-3]()
    snappy = TFRecordReaderV2[compression_type="SNAPPY"]()
    lmdb = LMDBReader())");
  f.fails({"^lines"}, "skip_header_lines must be >= 0 not -1");
  f.fails({"^header"}, "header_bytes must be >= 0 not -1");
  f.fails({"^record"}, "record_bytes must be >= 0 not -1");
  f.fails({"^footer"}, "footer_bytes must be >= 0 not -2");
  f.fails({"^hop"}, "hop_bytes must be >= 0 not -3");
  f.fails({"^snappy"}, "Only ZLIB, GZIP or NONE are supported compressions, not 'SNAPPY'");
  f.fails({"^lmdb"}, "UNIMPLEMENTED: node 'lmdb' (LMDBReader): LMDB databases cannot be read here");
}

TEST_CASE("readers: the state of those that never stop within a file is saved and restored") {
  for (std::string_view v : {"", "V2"}) {
    CAPTURE(v);
    FolderLines f;
    f.add(reader_graph("IdentityReader", "", R"("a" "bc" "d")", v));
    f.add(str_cat(
        "kept = Const[dtype=string, value=str[] \"\\x08\\x02\\x10\\x02\\x18\\x02\\\"\\x02bc\"]()\n",
        "restore = ReaderRestoreState", v, "(r, kept)\n",
        "broken = Const[dtype=string, value=str[] \"\\x08\"]()\n",
        "restore_broken = ReaderRestoreState", v, "(r, broken)\n",
        "early = Const[dtype=string, value=str[] \"\\x08\\x02\\x10\\x01\"]()\n",
        "restore_early = ReaderRestoreState", v, "(r, early)\n",
        "below = Const[dtype=string, value=str[] "
        "\"\\x08\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x01\"]()\n",
        "restore_below = ReaderRestoreState", v, "(r, below)\n"));
    CHECK(f.run({"^put"}) == "ok");
    CHECK(f.run({"state"}) == "ok str[] \"\"");
    CHECK(f.run(key_and_value) == "ok str[] \"a\" str[] \"a\"");
    CHECK(f.run(key_and_value) == "ok str[] \"bc\" str[] \"bc\"");
    const std::string state = f.run({"state"});
    CHECK(state == "ok str[] \"\\x08\\x02\\x10\\x02\\x18\\x02\\\"\\x02bc\"");
    CHECK(f.run({"^reset"}) == "ok");
    CHECK(f.run({"^restore"}) == "ok");
    CHECK(f.run({"records", "units"}) == "ok i64[] 2 i64[] 2");
    CHECK(f.run({"state"}) == state);
    CHECK(f.run(key_and_value) == "ok str[] \"d\" str[] \"d\"");
    f.fails({"^restore_broken"}, "Could not parse state for IdentityReader 'r': \"\\x08\"");
    CHECK(f.run({"records"}) == "ok i64[] 0");
    f.fails({"^restore_early"}, "Inconsistent work started vs. finished when restoring in "
                                "IdentityReader 'r': work_started: 2");
    f.fails({"^restore_below"},
            "Unexpected negative value when restoring in IdentityReader 'r': work_started: -1");
  }
  FolderLines f;
  f.add(reader_graph("TFRecordReader", "", R"("a")"));
  f.add("empty = Const[dtype=string, value=str[] \"\"]()\n"
        "restore = ReaderRestoreStateV2(r, empty)");
  f.fails({"state"}, "UNIMPLEMENTED: node 'state' (ReaderSerializeStateV2): Reader SerializeState");
  f.fails({"^restore"}, "Reader RestoreState");
}

TEST_CASE("readers: the queue has to hold names") {
  FolderLines f;
  f.add(R"(
    r = IdentityReaderV2()
    numbers = FIFOQueueV2[component_types=[int64]]()
    one = Const[dtype=int64, value=i64[] 1]()
    put_number = QueueEnqueueV2(numbers, one)
    from_numbers = ReaderReadV2(r, numbers)
    pairs = FIFOQueueV2[component_types=[string, string]]()
    a = Const[dtype=string, value=str[] "a"]()
    put_pair = QueueEnqueueV2(pairs, a, a)
    from_pairs = ReaderReadV2(r, pairs)
    vectors = FIFOQueueV2[component_types=[string]]()
    many = Const[dtype=string, value=str[2] "a" "b"]()
    put_vector = QueueEnqueueV2(vectors, many)
    from_vectors = ReaderReadV2(r, vectors)
    from_itself = ReaderReadV2(r, r))");
  for (const char* put : {"^put_number", "^put_pair", "^put_vector"})
    CHECK(f.run({put}) == "ok");
  f.fails({"from_numbers:0"}, "Expected queue with single string component");
  f.fails({"from_pairs:0"}, "Expected single component queue");
  f.fails({"from_vectors:0"}, "Expected to dequeue a one-element string tensor");
  f.fails({"from_itself:0"}, "NOT_FOUND");
}

TEST_CASE("readers: files beyond the allowed folders are refused with the remedy") {
  FolderLines f;
  f.add(reader_graph("TextLineReader", "", R"("/etc/hostname" "@/../x")"));
  CHECK(f.run({"^put"}) == "ok");
  f.fails(key_and_value, "PERMISSION_DENIED");
  f.fails(key_and_value, "outside of the allowed folders");
  testing::GraphLines without;
  without.add(reader_graph("WholeFileReader", "", R"("a")"));
  CHECK(without.run({"^put"}) == "ok");
  CHECK(without.fails(key_and_value, "PERMISSION_DENIED"));
  CHECK(without.fails(key_and_value, "its node was started without any folder"));
}

TEST_CASE("readers: shared by name, or a node's own") {
  FolderLines f;
  f.add(R"(
    q = FIFOQueueV2[component_types=[string]]()
    a = Const[dtype=string, value=str[] "a"]()
    put = QueueEnqueueV2(q, a)
    one = IdentityReaderV2[shared_name="s"]()
    other = IdentityReaderV2[shared_name="s"]()
    own = IdentityReaderV2()
    read = ReaderReadV2(one, q)
    shared = ReaderNumRecordsProducedV2(other)
    alone = ReaderNumRecordsProducedV2(own))");
  CHECK(f.run({"^put"}) == "ok");
  CHECK(f.run(key_and_value) == "ok str[] \"a\" str[] \"a\"");
  CHECK(f.run({"shared", "alone"}) == "ok i64[] 1 i64[] 0");
}

// ---------------------------------------------------------------------------------------------
// Requests that wait, and that are withdrawn.

namespace {

/// A reader of names, its queue, and what has been answered.
struct Waiting {
  std::unique_ptr<ComputePool> threads = std::make_unique<ComputePool>(2);
  std::shared_ptr<Queue> queue = std::make_shared<Queue>(
      QueueSpec{.op = "FIFOQueue", .types = {DType::string}, .shapes = {PartialShape(Shape{})}},
      "names", host_allocator());
  std::shared_ptr<io::Reader> reader = std::make_shared<io::Reader>(
      io::Reader::Spec{.kind = "IdentityReader", .node = "r", .open = io::identity_records()},
      host_allocator(), *threads);
  std::mutex lock;
  std::condition_variable changed;
  std::map<int, std::string> answers;

  ~Waiting() {
    queue->close(queue->ticket(), true, [](Result<Queue::Tuple>) {});
    read(0);
    answer(0); // the last one
    threads.reset();
  }

  io::Reader::Ticket read(int number) {
    const auto ticket = reader->ticket();
    reader->read(ticket, queue, [this, number](Result<std::vector<Tensor>> result) {
      std::scoped_lock guard(lock);
      answers[number] =
          result.ok() ? (*result)[1].value<std::string>() : result.status().to_string();
      changed.notify_all();
    });
    return ticket;
  }
  std::string answer(int number) {
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return answers.contains(number); });
    return answers[number];
  }
  void put(std::string name) {
    queue->enqueue(queue->ticket(), {Tensor::scalar(std::move(name))}, [](Result<Queue::Tuple>) {});
  }
  /// Until the reader has asked the queue for a name.
  void wait_until_asked(io::Reader::Ticket ticket) const {
    while (!reader->waits_for(ticket).starts_with("the name of a file"))
      std::this_thread::yield();
  }
};

} // namespace

TEST_CASE("readers: a step that waits for a name says so, and the next one for its turn") {
  Waiting w;
  const auto first = w.read(1), second = w.read(2);
  w.wait_until_asked(first);
  CHECK(w.reader->waits_for(first) ==
        "the name of a file from queue 'names' (FIFOQueue of string, 0 "
        "elements)");
  CHECK(w.reader->waits_for(second) == "its turn: other steps read from IdentityReader 'r'");
  w.put("a");
  w.put("b");
  CHECK(w.answer(1) == "a");
  CHECK(w.answer(2) == "b");
}

TEST_CASE("readers: a step that is cancelled while it waits takes no name") {
  Waiting w;
  const auto first = w.read(1);
  const auto second = w.read(2);
  const auto third = w.read(3);
  w.wait_until_asked(first);
  w.reader->withdraw(first);
  w.reader->withdraw(second);
  w.put("a");
  CHECK(w.answer(3) == "a");
  w.put("b");
  w.read(4);
  CHECK(w.answer(4) == "b");
  std::scoped_lock guard(w.lock);
  CHECK(w.answers.size() == 2);
  w.reader->withdraw(third); // long answered
  w.reader->withdraw(999);
}

TEST_CASE("readers: whenever a step is cancelled, every name reaches one that is not") {
  Waiting w;
  constexpr int rounds = 2000;
  int asked = 0, put = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto gone = w.read(-1 - i);
    std::thread canceller([&] { w.reader->withdraw(gone); });
    w.put(std::to_string(put++));
    canceller.join();
    w.read(++asked);
  }
  // Those that were withdrawn too late took some names, in their order; the rest went to others.
  while (true) {
    std::unique_lock guard(w.lock);
    std::set<int> taken;
    for (const auto& [number, name] : w.answers)
      taken.insert(std::stoi(name));
    CHECK(taken.size() == w.answers.size());
    if (static_cast<int>(w.answers.size()) == put) {
      CHECK(*taken.rbegin() == put - 1);
      break;
    }
    w.changed.wait(guard);
  }
}

TEST_CASE("readers: a closed queue ends every step that waits") {
  Waiting w;
  w.read(1);
  w.read(2);
  w.queue->close(w.queue->ticket(), false, [](Result<Queue::Tuple>) {});
  for (int i : {1, 2})
    CHECK(w.answer(i) == "OUT_OF_RANGE: FIFOQueue 'names' is closed and has insufficient elements "
                         "(requested 1, current size 0)");
}

} // namespace troupe
