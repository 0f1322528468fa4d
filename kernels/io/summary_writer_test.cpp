// Summary writers in graphs: what is in the event files, when it is there, and what is refused.
#include <doctest/doctest.h>

#include <map>

#include "storage/message/message.hpp"
#include "storage/records/records.hpp"
#include "tests/support/ops/folder_lines.hpp"
#include "tests/support/ops/op_cases.hpp"

TROUPE_OPS_IN_GRAPHS("SummaryWriter CreateSummaryFileWriter CreateSummaryDbWriter",
                     "FlushSummaryWriter CloseSummaryWriter WriteSummary WriteScalarSummary",
                     "WriteHistogramSummary WriteImageSummary WriteAudioSummary",
                     "WriteRawProtoSummary WriteGraphSummary ImportEvent");

namespace troupe {
namespace {

using testing::FolderLines;

constexpr auto graph_lines = R"(
    w = SummaryWriter[shared_name="w"]()
    dir = Const[dtype=string, value=str[] "@/logs/run"]()
    suffix = Const[dtype=string, value=str[] ".v2"]()
    queue = Const[dtype=int32, value=i32[] 2]()
    long = Const[dtype=int32, value=i32[] 100000000]()
    create = CreateSummaryFileWriter(w, dir, queue, long, suffix)
    flush = FlushSummaryWriter(w)
    close = CloseSummaryWriter(w)
    step = Const[dtype=int64, value=i64[] 7]()
    tag = Const[dtype=string, value=str[] "t"]()
    one = Const[dtype=float, value=f32[] 1.5]()
    none = Const[dtype=string, value=str[] ""]()
    text = Const[dtype=string, value=str[] "m"]()
    scalar = WriteScalarSummary[T=float](w, step, tag, one)
    tensor = WriteSummary[T=float](w, step, one, tag, none)
    strings = Const[dtype=string, value=str[2] "a" "b"]()
    strings_tensor = WriteSummary[T=string](w, step, strings, tag, text)
    numbers = Const[dtype=int32, value=i32[3] 1 2 3]()
    histogram = WriteHistogramSummary[T=int32](w, step, tag, numbers)
    color = Const[dtype=uint8, value=u8[4] 255 0 0 255]()
    pixels = Const[dtype=float, value=f32[2,1,2,1] 0 1 2 4]()
    image = WriteImageSummary[T=float](w, step, tag, pixels, color)
    rate = Const[dtype=float, value=f32[] 10.6]()
    samples = Const[dtype=float, value=f32[1,2] 0 1]()
    audio = WriteAudioSummary[max_outputs=1](w, step, tag, samples, rate)
    summary = ScalarSummary[T=float](tag, one)
    raw = WriteRawProtoSummary(w, step, summary)
    garbage = Const[dtype=string, value=str[] "\xff\xff"]()
    raw_garbage = WriteRawProtoSummary(w, step, garbage)
    graph = WriteGraphSummary(w, step, text_graph)
    text_graph = Const[dtype=string, value=str[] "\"\x00"]()
    graph_garbage = WriteGraphSummary(w, step, garbage)
    event = Const[dtype=string, value=str[] "\x10\x4d"]()
    import = ImportEvent(w, event)
    import_garbage = ImportEvent(w, garbage)
)";

struct Event {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version, graph, tag, value; ///< of the summary's last value, and its field's content
  int field = 0, values = 0;
};

Event event_of(std::string_view message) {
  Event out;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      out.wall_time = std::bit_cast<double>(in.fixed64());
    else if (in.field() == 2)
      out.step = in.signed_integer();
    else if (in.field() == 3)
      out.version = in.bytes();
    else if (in.field() == 4)
      out.graph = in.bytes();
    else if (in.field() == 5) {
      MessageReader summary(in.bytes());
      while (summary.next()) {
        ++out.values;
        MessageReader value(summary.bytes());
        while (value.next())
          if (value.field() == 1)
            out.tag = value.bytes();
          else if (out.field == 0) {
            out.field = value.field();
            out.value = value.bytes();
          }
      }
    }
  }
  REQUIRE(in.ok());
  return out;
}

/// The events of each file of a folder, by the file's name.
std::map<std::string, std::vector<Event>> events_in(const std::filesystem::path& folder) {
  std::map<std::string, std::vector<Event>> out;
  if (!std::filesystem::exists(folder))
    return out;
  auto files = open_files({folder.string()});
  REQUIRE(files.ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto file = (*files)->open(entry.path().string());
    REQUIRE(file.ok());
    RecordReader reader(read_in_order(*std::move(file)));
    std::string record;
    for (;;) {
      auto more = reader.next(record);
      REQUIRE(more.ok());
      if (!*more)
        break;
      out[entry.path().filename().string()].push_back(event_of(record));
    }
  }
  return out;
}

} // namespace

TEST_CASE("summary writers: events of every kind are in the file, in their order") {
  FolderLines f;
  f.add(graph_lines);
  CHECK(f.run({"^create"}) == "ok");
  const std::vector<std::string> kinds = {"^scalar",    "^tensor", "^strings_tensor",
                                          "^histogram", "^image",  "^audio",
                                          "^raw",       "^graph",  "^import"};
  for (const std::string& kind : kinds)
    CHECK(f.run({kind}) == "ok");
  CHECK(f.run({"^flush"}) == "ok");
  const auto files = events_in(f.path / "logs/run");
  REQUIRE(files.size() == 1);
  CHECK(files.begin()->first.starts_with("events.out.tfevents."));
  CHECK(files.begin()->first.ends_with(".v2"));
  const std::vector<Event>& events = files.begin()->second;
  REQUIRE(events.size() == kinds.size() + 1);
  CHECK(events[0].version == "brain.Event:2");
  CHECK(events[0].wall_time > 1.6e9);
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    CAPTURE(kinds[i - 1]);
    CHECK(events[i].step == 7);
    CHECK(events[i].wall_time >= events[0].wall_time);
  }
  const int fields[] = {0, 2, 8, 8, 5, 4, 6, 2};
  const char* tags[] = {"", "t", "t", "t", "t", "t/image/1", "t/audio", "t"};
  for (std::size_t i = 1; i < 8; ++i) {
    CAPTURE(kinds[i - 1]);
    CHECK(events[i].field == fields[i]);
    CHECK(events[i].tag == tags[i]);
    CHECK(events[i].values == (kinds[i - 1] == "^image" ? 2 : 1));
  }
  CHECK(events[5].value.find("PNG") != std::string::npos);
  CHECK(events[6].value.find("RIFF") != std::string::npos);
  CHECK(events[8].graph == std::string("\"\0", 2));
  CHECK(events[9].step == 77);
}

TEST_CASE("summary writers: events wait until there are too many, or somebody flushes or closes") {
  FolderLines f;
  f.add(graph_lines);
  const auto count = [&] {
    std::size_t sum = 0;
    for (const auto& [name, events] : events_in(f.path / "logs/run"))
      sum += events.size();
    return sum;
  };
  CHECK(f.run({"^create"}) == "ok");
  CHECK(f.run({"^create"}) == "ok"); // there is one
  CHECK(count() == 1);
  CHECK(f.run({"^scalar"}) == "ok");
  CHECK(f.run({"^scalar"}) == "ok");
  CHECK(count() == 1);
  CHECK(f.run({"^scalar"}) == "ok");
  CHECK(count() == 4);
  CHECK(f.run({"^scalar"}) == "ok");
  CHECK(count() == 4);
  CHECK(f.run({"^close"}) == "ok");
  CHECK(count() == 5);
  f.fails({"^scalar"}, "NOT_FOUND");
  f.fails({"^close"}, "NOT_FOUND");
  CHECK(f.run({"^create"}) == "ok");
  CHECK(f.run({"^scalar"}) == "ok");
  f.lines.interpreter.device().device().resources().clear();
  CHECK(count() == 7);
  CHECK(events_in(f.path / "logs/run").size() == 2);
}

TEST_CASE("summary writers: what is no message, and values that have no summary") {
  FolderLines f;
  f.add(graph_lines);
  f.add(R"(
    unmade = SummaryWriter[shared_name="other"]()
    flush_unmade = FlushSummaryWriter(unmade)
    steps = Const[dtype=int64, value=i64[1] 7]()
    scalar_steps = WriteScalarSummary[T=float](w, steps, tag, one)
    tags = Const[dtype=string, value=str[1] "t"]()
    scalar_tags = WriteScalarSummary[T=float](w, step, tags, one)
    nothing = Const[dtype=float, value=f32[0]]()
    scalar_nothing = WriteScalarSummary[T=float](w, step, tag, nothing)
    nan = Const[dtype=float, value=f32[2] 1 nan]()
    histogram_nan = WriteHistogramSummary[T=float](w, step, tag, nan)
    infinity = Const[dtype=float, value=f32[1] inf]()
    histogram_infinity = WriteHistogramSummary[T=float](w, step, tag, infinity)
    flat = Const[dtype=float, value=f32[2,2,3] 1]()
    image_flat = WriteImageSummary[T=float](w, step, tag, flat, color)
    blue = Const[dtype=uint8, value=u8[] 1]()
    image_blue = WriteImageSummary[T=float](w, step, tag, pixels, blue)
    many = WriteImageSummary[T=float, max_images=2147483648](w, step, tag, pixels, color)
    zero = Const[dtype=float, value=f32[] 0]()
    audio_zero = WriteAudioSummary(w, step, tag, samples, zero)
    path = Const[dtype=string, value=str[] "/../x"]()
    create_path = CreateSummaryFileWriter(unmade, dir, queue, long, path)
    outside = Const[dtype=string, value=str[] "/nowhere"]()
    create_outside = CreateSummaryFileWriter(unmade, outside, queue, long, suffix)
    dirs = Const[dtype=string, value=str[1] "a"]()
    create_dirs = CreateSummaryFileWriter(unmade, dirs, queue, long, suffix)
    database = CreateSummaryDbWriter(unmade, none, none, none, none))");
  CHECK(f.run({"^create"}) == "ok");
  f.fails({"^flush_unmade"}, "NOT_FOUND");
  f.fails({"^raw_garbage"}, "DATA_LOSS: node 'raw_garbage' (WriteRawProtoSummary): Bad "
                            "tf.compat.v1.Summary binary proto tensor string at index 0");
  f.fails({"^graph_garbage"}, "Bad tf.GraphDef binary proto tensor string");
  f.fails({"^import_garbage"}, "Bad tf.Event binary proto tensor string");
  f.fails({"^scalar_steps"}, "step must be a scalar, got shape [1]");
  f.fails({"^scalar_tags"}, "tag must be a scalar, got shape [1]");
  f.fails({"^scalar_nothing"}, "value must be a scalar, got shape [0]");
  f.fails({"^histogram_nan"}, "Nan in summary histogram for: t");
  f.fails({"^histogram_infinity"}, "Infinity in Histogram for: t");
  f.fails({"^image_flat"}, "Tensor must be 4-D with last dim 1, 3, or 4, not [2,2,3]");
  f.fails({"^image_blue"}, "bad_color must be a vector, got shape []");
  f.fails({"^many"}, "max_images must be < 2^31");
  f.fails({"^audio_zero"}, "sample_rate must be > 0");
  f.fails({"^create_path"}, "filename_suffix is no path");
  f.fails({"^create_outside"}, "PERMISSION_DENIED");
  f.fails({"^create_dirs"}, "logdir must be a scalar");
  f.fails({"^database"}, "UNIMPLEMENTED");
  testing::GraphLines without;
  without.add(graph_lines);
  CHECK(without.fails({"^create"}, "its node was started without any folder"));
}

TEST_CASE("summary writers: every number makes a scalar and a histogram") {
  for (std::string_view type : {"float", "double", "int32", "uint8", "int16", "int8", "int64",
                                "bfloat16", "uint16", "half", "uint32", "uint64"}) {
    CAPTURE(type);
    FolderLines f;
    f.add(graph_lines);
    f.add(str_cat("x = Const[dtype=int32, value=i32[] 3]()\n y = Cast[DstT=", type, "](x)\n",
                  "s = WriteScalarSummary[T=", type, "](w, step, tag, y)\n",
                  "h = WriteHistogramSummary[T=", type, "](w, step, tag, y)"));
    CHECK(f.run({"^create"}) == "ok");
    CHECK(f.run({"^s"}) == "ok");
    CHECK(f.run({"^h"}) == "ok");
  }
}

} // namespace troupe
