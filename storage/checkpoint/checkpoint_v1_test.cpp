#include "storage/checkpoint/checkpoint_v1.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/testing/simulated_disk.hpp"

using namespace troupe;
using testing::SimulatedDisk;

namespace {

const std::string golden_v1 = TROUPE_GOLDEN_DIR "/checkpoints";
constexpr std::uint64_t any_size = 1 << 20;

Tensor literal_v1(const char* literal) {
  auto out = parse_literal(literal);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

std::shared_ptr<AllowedFiles> golden_v1_files() {
  auto out = AllowedFiles::make({golden_v1}, local_files());
  REQUIRE(out.ok());
  return *out;
}

TensorSlice whole(const Shape& shape) {
  TensorSlice out;
  out.extents.resize(static_cast<std::size_t>(shape.rank()));
  return out;
}

Status add(CheckpointWriterV1& writer, std::string_view name, const Tensor& value) {
  return writer.add(name, value.shape(), whole(value.shape()), value);
}

Status add_slice(CheckpointWriterV1& writer, std::string_view name, std::string_view spec,
                 const Tensor& value) {
  auto parsed = parse_shape_and_slice(spec);
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().to_string());
  return writer.add(name, parsed->full, parsed->slice, value);
}

Result<Tensor> read(CheckpointReaderV1& reader, std::string_view name) {
  TROUPE_ASSIGN(const auto* found, reader.find(name));
  REQUIRE(found);
  return reader.read(name, whole(found->shape), host_allocator());
}

Result<Tensor> read_slice(CheckpointReaderV1& reader, std::string_view name,
                          std::string_view spec) {
  return reader.read(name, parse_shape_and_slice(spec)->slice, host_allocator());
}

} // namespace

TEST_CASE("checkpoint v1: what TensorFlow wrote is read, in every dtype") {
  auto files = golden_v1_files();
  auto reader = CheckpointReaderV1::open(*files, {golden_v1 + "/v1_all_dtypes"}, "pattern");
  REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
  CHECK(reader->names().size() == 18);
  for (auto [name, literal] : {std::pair{"float32", "f32[2,3] 0 1 2 3 4 5"},
                               {"float64", "f64[2,3] 0 1 2 3 4 5"},
                               {"float16", "f16[2,3] 0 1 2 3 4 5"},
                               {"int8", "i8[2,3] 0 1 2 3 4 5"},
                               {"int16", "i16[2,3] 0 1 2 3 4 5"},
                               {"int32", "i32[2,3] 0 1 2 3 4 5"},
                               {"int64", "i64[2,3] 0 1 2 3 4 5"},
                               {"uint8", "u8[2,3] 0 1 2 3 4 5"},
                               {"uint16", "u16[2,3] 0 1 2 3 4 5"},
                               {"bool", "bool[2,3] false true true true true true"},
                               {"scalar", "f32[] 7"},
                               {"empty", "f32[0,3]"}}) {
    CAPTURE(name);
    auto value = read(*reader, name);
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    CHECK(equal(*value, literal_v1(literal)));
  }
  auto text = read(*reader, "string");
  REQUIRE_MESSAGE(text.ok(), text.status().to_string());
  CHECK(text->data<std::string>()[2] == std::string(200, 'x'));
  CHECK(text->data<std::string>()[3] == std::string("\0\xff", 2));
  for (const char* name : {"qint8", "quint8", "qint32"})
    CHECK(read(*reader, name)->shape() == Shape{2, 2});
  CHECK(*reader->find("none") == nullptr);
}

TEST_CASE("checkpoint v1: we write the bytes that TensorFlow writes") {
  auto files = golden_v1_files();
  auto reader = CheckpointReaderV1::open(*files, {golden_v1 + "/v1_all_dtypes"}, "pattern");
  REQUIRE(reader.ok());
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  CheckpointWriterV1 writer(*storage, "c");
  for (const std::string& name : reader->names())
    REQUIRE(add(writer, name, *read(*reader, name)).ok());
  REQUIRE(writer.commit().ok());
  CHECK(*storage->get("c", any_size) == *files->get(golden_v1 + "/v1_all_dtypes", any_size));
}

TEST_CASE("checkpoint v1: slices in several files are put together, whole and in other slices") {
  auto files = golden_v1_files();
  const std::vector<std::string> both = {golden_v1 + "/v1_slices-00000-of-00002",
                                         golden_v1 + "/v1_slices-00001-of-00002"};
  for (int preferred : {-1, 0, 1, 7}) {
    CAPTURE(preferred);
    auto reader = CheckpointReaderV1::open(*files, both, "pattern", preferred);
    REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
    CHECK(equal(*read(*reader, "v"), literal_v1("f32[4,3] 0 1 2 3 4 5 6 7 8 9 10 11")));
    CHECK(equal(*read(*reader, "a"), literal_v1("i32[2] 1 2")));
    for (auto [spec, literal] : {std::pair{"4 3 1,2:-", "f32[2,3] 3 4 5 6 7 8"},
                                 {"4 3 -:0,2", "f32[4,2] 0 1 3 4 6 7 9 10"},
                                 {"4 3 0,2:1,2", "f32[2,2] 1 2 4 5"},
                                 {"4 3 3,1:2,1", "f32[1,1] 11"}}) {
      CAPTURE(spec);
      auto value = read_slice(*reader, "v", spec);
      REQUIRE_MESSAGE(value.ok(), value.status().to_string());
      CHECK(equal(*value, literal_v1(literal)));
    }
  }
  auto half = CheckpointReaderV1::open(*files, {both[0]}, "pattern");
  REQUIRE(half.ok());
  CHECK(read_slice(*half, "v", "4 3 -:0,1").ok());
  CHECK(read(*half, "v").status().message().starts_with("Error copying slice data"));
}

TEST_CASE("checkpoint v1: what is written is read") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  CheckpointWriterV1 writer(*storage, "c");
  const Tensor negative = literal_v1("i8[3] -1 0 -128"),
               big = literal_v1("i64[2] -9223372036854775808 1"),
               numbers = literal_v1("u64[1] 18446744073709551615"),
               text = literal_v1("str[2] \"\" \"x\"");
  CHECK(add(writer, "negative", negative).ok());
  CHECK(add(writer, "big", big).ok());
  CHECK(add(writer, "numbers", numbers).ok());
  CHECK(add(writer, "text", text).ok());
  CHECK(add_slice(writer, "v", "2 3 1,1:-", literal_v1("i16[1,3] -3 4 5")).ok());
  CHECK(add_slice(writer, "v", "2 3 0,1:-", literal_v1("i16[1,3] 0 1 2")).ok());
  CHECK(add_slice(writer, "v", "2 3 0,1:-", literal_v1("i16[1,3] 0 1 2")).code() ==
        Code::already_exists);
  CHECK(add_slice(writer, "v", "3 3 2,1:-", literal_v1("i16[1,3] 0 1 2")).message() ==
        "Mismatching shapes: existing tensor = [2,3], trying to add name v, shape = [3,3]");
  CHECK(add_slice(writer, "v", "2 3 1,1:0,1", literal_v1("i32[1,1] 0")).message() ==
        "Mismatching types: existing type = int16, trying to add name v, type = int32");
  CHECK(add(writer, "small", literal_v1("bf16[] 1")).message() ==
        "Saving data type bfloat16 not yet supported");
  REQUIRE(writer.commit().ok());
  auto reader = CheckpointReaderV1::open(*storage, {"c"}, "c");
  REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
  CHECK(equal(*read(*reader, "negative"), negative));
  CHECK(equal(*read(*reader, "big"), big));
  CHECK(equal(*read(*reader, "numbers"), numbers));
  CHECK(equal(*read(*reader, "text"), text));
  CHECK(equal(*read(*reader, "v"), literal_v1("i16[2,3] 0 1 2 -3 4 5")));
}

TEST_CASE("checkpoint v1: files in which slices overlap are not read") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  const auto refusal = [&](std::vector<std::string> files) {
    return CheckpointReaderV1::open(*storage, std::move(files), "c*").status();
  };
  CheckpointWriterV1 first(*storage, "first"), second(*storage, "second");
  CHECK(add_slice(first, "v", "4 0,2", literal_v1("f32[2] 1 2")).ok());
  REQUIRE(first.commit().ok());
  CHECK(add_slice(second, "v", "4 2,2", literal_v1("f32[2] 3 4")).ok());
  CHECK(add_slice(second, "v", "4 1,1", literal_v1("f32[1] 5")).ok());
  REQUIRE(second.commit().ok());
  CHECK(refusal({"first"}).ok());
  CHECK(refusal({"second"}).ok());
  CHECK(refusal({"first", "second"}) ==
        internal("Overlapping slices: existing slice = 0,2, new slice = 1,1"));
}

TEST_CASE("checkpoint v1: many tensors, in many blocks") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  CheckpointWriterV1 writer(*storage, "c");
  for (int i = 0; i < 100; ++i) {
    Tensor value = Tensor::make(DType::float32, Shape{3000});
    for (float& x : value.mutable_data<float>())
      x = static_cast<float>(i);
    REQUIRE(add(writer, str_cat("t", i), value).ok());
  }
  REQUIRE(writer.commit().ok());
  auto reader = CheckpointReaderV1::open(*storage, {"c"}, "c");
  REQUIRE(reader.ok());
  for (int i = 0; i < 100; ++i)
    CHECK(read(*reader, str_cat("t", i))->data<float>()[2999] == static_cast<float>(i));
}

TEST_CASE("checkpoint v1: a write that fails anywhere leaves the old one or the new one, whole") {
  const Tensor old_value = literal_v1("f32[3] 1 2 3"), new_value = literal_v1("f32[3] 4 5 6");
  int old = 0;
  for (bool with_effect : {false, true})
    for (int at = 1;; ++at) {
      SimulatedDisk disk;
      auto storage = make_local_storage("/disk", disk);
      CheckpointWriterV1 first(*storage, "c"), second(*storage, "c");
      REQUIRE(add(first, "t", old_value).ok());
      REQUIRE(first.commit().ok());
      REQUIRE(add(second, "t", new_value).ok());
      disk.fail_at(at, with_effect);
      const Status status = second.commit();
      const bool has_failed = disk.calls() >= at;
      disk.fail_at(0);
      auto reader = CheckpointReaderV1::open(*storage, {"c"}, "c");
      REQUIRE(reader.ok());
      const Tensor value = *read(*reader, "t");
      CHECK((equal(value, old_value) || equal(value, new_value)));
      old += equal(value, old_value);
      if (status.ok())
        CHECK(equal(value, new_value));
      if (!has_failed)
        break;
    }
  CHECK(old > 6);
}

TEST_CASE("checkpoint v1: files that are none, or of another format") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  auto error = [&](std::vector<std::string> files) {
    return CheckpointReaderV1::open(*storage, std::move(files), "c*").status();
  };
  CHECK(error({}) == not_found("Unsuccessful TensorSliceReader constructor: Failed to find any "
                               "matching files for c*"));
  CHECK(error({"none"}).code() == Code::data_loss);
  CHECK(error({"none"}).message().starts_with("Unable to open table file none: NOT_FOUND"));
  REQUIRE(storage->put("text", std::string(100, 'x')).ok());
  CHECK(error({"text"}).message().ends_with("perhaps your file is in a different file format and "
                                            "you need to use a different restore operator?"));
  TableWriter other;
  other.add("a", "b");
  REQUIRE(storage->put("table", other.finish()).ok());
  CHECK(error({"table"}) == internal("Failed to find the saved tensor slices at the beginning of "
                                     "the checkpoint file: table"));
  TableWriter newer;
  newer.add("",
            std::string("\x0a\x04\x12\x02\x10\x02", 6)); // meta { versions { min_consumer: 2 } }
  REQUIRE(storage->put("newer", newer.finish()).ok());
  CHECK(error({"newer"}).message().starts_with("Checkpoint min consumer version 2 above current "
                                               "version 1"));
}

TEST_CASE("checkpoint v1: every damaged bit is noticed or of no account; nothing crashes") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  CheckpointWriterV1 writer(*storage, "c");
  const Tensor number = literal_v1("f32[2] 1 2"), text = literal_v1("str[2] \"ab\" \"\"");
  REQUIRE(add(writer, "n", number).ok());
  REQUIRE(add(writer, "s", text).ok());
  REQUIRE(writer.commit().ok());
  const std::string file = *storage->get("c", any_size);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(storage->put("c", damaged).ok());
    auto reader = CheckpointReaderV1::open(*storage, {"c"}, "c");
    if (!reader.ok())
      continue;
    for (auto [name, expected] : {std::pair("n", number), std::pair("s", text)}) {
      auto found = reader->find(name);
      if (!found.ok() || !*found)
        continue;
      auto value = reader->read(name, whole((*found)->shape), host_allocator());
      CHECK((!value.ok() || equal(*value, expected)));
    }
  }
}
