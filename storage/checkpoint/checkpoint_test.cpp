#include "storage/checkpoint/checkpoint.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "core/tensor/literal.hpp"
#include "core/tensor/variant.hpp"
#include "storage/files/allowed_files.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/testing/simulated_disk.hpp"

using namespace troupe;
using testing::SimulatedDisk;

namespace {

const std::string golden = TROUPE_GOLDEN_DIR "/checkpoints";

Tensor tensor(const char* literal) {
  auto out = parse_literal(literal);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

std::shared_ptr<AllowedFiles> golden_files() {
  auto out = AllowedFiles::make({golden}, local_files());
  REQUIRE(out.ok());
  return *out;
}

Tensor read(Storage& storage, const std::string& prefix, std::string_view name) {
  auto reader = CheckpointReader::open(storage, prefix);
  REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
  auto out = reader->read(name, host_allocator());
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}

Status save(Storage& storage, const std::string& prefix,
            const std::vector<std::pair<std::string, Tensor>>& tensors) {
  TROUPE_ASSIGN(auto writer, CheckpointWriter::create(storage, prefix));
  for (const auto& [name, value] : tensors)
    TROUPE_TRY(writer.add(name, value));
  return writer.commit();
}

Status save_slice(CheckpointWriter& writer, std::string_view name, std::string_view spec,
                  const Tensor& value) {
  auto parsed = parse_shape_and_slice(spec);
  REQUIRE_MESSAGE(parsed.ok(), parsed.status().to_string());
  return writer.add_slice(name, parsed->full, parsed->slice, value);
}

} // namespace

TEST_CASE("checkpoint: what TensorFlow wrote is read, in every dtype") {
  auto files = golden_files();
  auto reader = CheckpointReader::open(*files, golden + "/all_dtypes");
  REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
  CHECK(reader->names()->size() == 18);
  for (auto [name, literal] : {std::pair{"float32", "f32[2,3] 0 1 2 3 4 5"},
                               {"float64", "f64[2,3] 0 1 2 3 4 5"},
                               {"float16", "f16[2,3] 0 1 2 3 4 5"},
                               {"bfloat16", "bf16[2,3] 0 1 2 3 4 5"},
                               {"int8", "i8[2,3] 0 1 2 3 4 5"},
                               {"int16", "i16[2,3] 0 1 2 3 4 5"},
                               {"int32", "i32[2,3] 0 1 2 3 4 5"},
                               {"int64", "i64[2,3] 0 1 2 3 4 5"},
                               {"uint8", "u8[2,3] 0 1 2 3 4 5"},
                               {"uint16", "u16[2,3] 0 1 2 3 4 5"},
                               {"uint32", "u32[2,3] 0 1 2 3 4 5"},
                               {"uint64", "u64[2,3] 0 1 2 3 4 5"},
                               {"bool", "bool[2,3] false true true true true true"},
                               {"scalar", "f32[] 7"},
                               {"empty", "f32[0,3]"}}) {
    CAPTURE(name);
    auto value = reader->read(name, host_allocator());
    REQUIRE_MESSAGE(value.ok(), value.status().to_string());
    CHECK(equal(*value, tensor(literal)));
  }
  auto text = reader->read("string", host_allocator());
  REQUIRE_MESSAGE(text.ok(), text.status().to_string());
  CHECK(text->shape() == Shape{2, 2});
  CHECK(text->data<std::string>()[2] == std::string(200, 'x'));
  CHECK(text->data<std::string>()[3] == std::string("\0\xff", 2));
  CHECK(reader->read("complex64", host_allocator())->shape() == Shape{2, 3});
  CHECK(reader->has("scalar"));
  CHECK_FALSE(reader->has("none"));
  CHECK_FALSE(reader->has(""));
  CHECK(reader->read("none", host_allocator()).status().message() ==
        "Key none not found in checkpoint");
}

TEST_CASE("checkpoint: we write the bytes that TensorFlow writes") {
  auto files = golden_files();
  auto golden_reader = CheckpointReader::open(*files, golden + "/all_dtypes");
  REQUIRE(golden_reader.ok());
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  auto writer = CheckpointWriter::create(*storage, "c");
  const auto names = golden_reader->names();
  for (const std::string& name : *names)
    REQUIRE(writer->add(name, *golden_reader->read(name, host_allocator())).ok());
  REQUIRE(writer->commit().ok());
  constexpr std::uint64_t most = 1 << 20;
  for (const char* ending : {".index", ".data-00000-of-00001"})
    CHECK(*storage->get(str_cat("c", ending), most) ==
          *files->get(str_cat(golden, "/all_dtypes", ending), most));
}

TEST_CASE("checkpoint: variants that TensorFlow wrote are read, and written as it writes them") {
  auto files = golden_files();
  auto golden_reader = CheckpointReader::open(*files, golden + "/variants");
  REQUIRE_MESSAGE(golden_reader.ok(), golden_reader.status().to_string());
  auto list = golden_reader->read("list", host_allocator());
  REQUIRE_MESSAGE(list.ok(), list.status().to_string());
  CHECK(list->shape() == Shape{});
  const auto& variant = list->value<Variant>();
  CHECK(variant.type_name == "tensorflow::TensorList");
  auto parts = parts_of(variant);
  REQUIRE(parts.ok());
  REQUIRE(parts->tensors.size() == 4);
  CHECK(equal(parts->tensors[1], tensor("f32[3] 3 4 5")));
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  REQUIRE(save(*storage, "c",
               {{"list", *list}, {"lists", *golden_reader->read("lists", host_allocator())}})
              .ok());
  constexpr std::uint64_t most = 1 << 20;
  for (const char* ending : {".index", ".data-00000-of-00001"})
    CHECK(*storage->get(str_cat("c", ending), most) ==
          *files->get(str_cat(golden, "/variants", ending), most));
}

TEST_CASE("checkpoint: slices that overlap are refused, one that is all is the tensor") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  auto writer = CheckpointWriter::create(*storage, "c");
  CHECK(save_slice(*writer, "v", "4 0,2", tensor("i32[2] 1 2")).ok());
  CHECK(save_slice(*writer, "v", "4 1,2", tensor("i32[2] 3 4")).ok());
  CHECK(save_slice(*writer, "all", "2 0,2", tensor("i32[2] 5 6")).ok());
  REQUIRE(writer->commit().ok());
  auto reader = CheckpointReader::open(*storage, "c");
  CHECK(reader->read("v", host_allocator()).status().message() ==
        "Overlapping slices: existing slice = 0,2, new slice = 1,2");
  CHECK(reader->entry("all")->slices.empty());
  CHECK(equal(*reader->read("all", host_allocator()), tensor("i32[2] 5 6")));
}

TEST_CASE("checkpoint: slices that TensorFlow wrote are put together, whole and in other slices") {
  auto files = golden_files();
  const Tensor whole = tensor("f32[4,3] 0 1 2 3 4 5 6 7 8 9 10 11");
  for (const char* name : {"/slices", "/merged"}) {
    CAPTURE(name);
    CHECK(equal(read(*files, golden + name, "v"), whole));
    auto reader = CheckpointReader::open(*files, golden + name);
    CHECK(reader->names()->size() == (name == std::string_view("/slices") ? 1 : 3));
    for (auto [spec, literal] : {std::pair{"4 3 -:-", "f32[4,3] 0 1 2 3 4 5 6 7 8 9 10 11"},
                                 {"4 3 1,2:-", "f32[2,3] 3 4 5 6 7 8"},
                                 {"4 3 0,2:1,2", "f32[2,2] 1 2 4 5"},
                                 {"4 3 3,1:2,1", "f32[1,1] 11"}}) {
      CAPTURE(spec);
      auto value = reader->read_slice("v", *parse_shape_and_slice(spec), host_allocator());
      REQUIRE_MESSAGE(value.ok(), value.status().to_string());
      CHECK(equal(*value, tensor(literal)));
    }
    CHECK(reader->read_slice("v", *parse_shape_and_slice("4 4 -:-"), host_allocator())
              .status()
              .message()
              .find("does not match the shape stored in checkpoint: [4,3]") != std::string::npos);
  }
  CHECK(equal(read(*files, golden + "/merged", "a"), tensor("i32[2] 1 2")));
  CHECK(equal(read(*files, golden + "/merged", "b"), tensor("str[1] \"text\"")));
}

TEST_CASE("checkpoint: slices are written as they are read, a tensor without them is sliced") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  auto writer = CheckpointWriter::create(*storage, "c");
  CHECK(save_slice(*writer, "v", "4 3 1,3:-", tensor("i64[3,3] 3 4 5 6 7 8 9 10 11")).ok());
  CHECK(save_slice(*writer, "v", "4 3 0,1:-", tensor("i64[1,3] 0 1 2")).ok());
  CHECK(save_slice(*writer, "part", "2 1,1", tensor("str[1] \"b\"")).ok());
  CHECK(writer->add("w", tensor("f32[2,2] 1 2 3 4")).ok());
  CHECK(save_slice(*writer, "v", "4 3 1,3:-", tensor("i64[3,3] 3 4 5 6 7 8 9 10 11")) ==
        invalid_argument("Adding duplicate key: v 1,3:-"));
  CHECK(save_slice(*writer, "v", "4 3 0,1:-", tensor("i32[1,3] 0 1 2")).code() ==
        Code::invalid_argument);
  CHECK(save_slice(*writer, "w", "2 2 0,1:-", tensor("f32[1,2] 0 1")).code() ==
        Code::invalid_argument);
  CHECK(writer->add("w", tensor("f32[] 1")).code() == Code::invalid_argument);
  CHECK(writer->add("", tensor("f32[] 1")).code() == Code::invalid_argument);
  REQUIRE(writer->commit().ok());
  CHECK(equal(read(*storage, "c", "v"), tensor("i64[4,3] 0 1 2 3 4 5 6 7 8 9 10 11")));
  auto reader = CheckpointReader::open(*storage, "c");
  CHECK(equal(*reader->read_slice("w", *parse_shape_and_slice("2 2 -:1,1"), host_allocator()),
              tensor("f32[2,1] 2 4")));
  CHECK(equal(*reader->read_slice("part", *parse_shape_and_slice("2 1,1"), host_allocator()),
              tensor("str[1] \"b\"")));
  CHECK(reader->read_slice("part", *parse_shape_and_slice("2 0,1"), host_allocator()).status() ==
        invalid_argument("Does not have sufficient slices for partitioned tensor part to restore "
                         "in slice_spec: 0,1"));
  CHECK(reader->read("part", host_allocator()).status() ==
        invalid_argument("Does not have sufficient slices for partitioned tensor part to restore "
                         "in slice_spec: -"));
}

TEST_CASE("checkpoint: several are merged, data files and all, and the parts are gone") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  for (int i = 0; i < 3; ++i) {
    auto writer = CheckpointWriter::create(*storage, str_cat("parts/p", i));
    REQUIRE(writer->add(str_cat("t", i), Tensor::scalar<std::int32_t>(i)).ok());
    REQUIRE(
        save_slice(*writer, "v", str_cat("3 ", i, ",1"), Tensor::vector<float>({float(i)})).ok());
    REQUIRE(writer->commit().ok());
  }
  const std::string parts[] = {"parts/p0", "parts/p1", "parts/p2"}, more[] = {"parts/none", "all"};
  CHECK(merge_checkpoints(*storage, more, "x", false).code() == Code::invalid_argument);
  REQUIRE(merge_checkpoints(*storage, parts, "all", false).ok());
  CHECK(disk.paths() == std::set<std::string>{"/disk/all.data-00000-of-00003",
                                              "/disk/all.data-00001-of-00003",
                                              "/disk/all.data-00002-of-00003", "/disk/all.index"});
  for (int i = 0; i < 3; ++i)
    CHECK(read(*storage, "all", str_cat("t", i)).value<std::int32_t>() == i);
  CHECK(equal(read(*storage, "all", "v"), tensor("f32[3] 0 1 2")));
  CHECK(merge_checkpoints(*storage, more, "again", true).ok());
  CHECK(equal(read(*storage, "again", "v"), tensor("f32[3] 0 1 2")));
  CHECK(merge_checkpoints(*storage, std::span(more, 1), "x", true).code() ==
        Code::invalid_argument);
}

TEST_CASE("checkpoint: two with one tensor are not merged, and stay") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  for (const char* name : {"a", "b"})
    REQUIRE(save(*storage, name, {{"t", tensor("f32[] 1")}}).ok());
  const std::string parts[] = {"a", "b"};
  const Status status = merge_checkpoints(*storage, parts, "all", false);
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message().find("Duplicate tensor keyed by t") != std::string::npos);
  CHECK(read(*storage, "a", "t").value<float>() == 1);
  CHECK(disk.paths().size() == 4);
}

TEST_CASE("checkpoint: a write that fails anywhere leaves the old one or the new one, or says "
          "which is damaged") {
  int old = 0, fresh = 0, noticed = 0;
  for (bool with_effect : {false, true})
    for (int at = 1;; ++at) {
      SimulatedDisk disk;
      auto storage = make_local_storage("/disk", disk);
      REQUIRE(save(*storage, "c", {{"t", tensor("f32[3] 1 2 3")}}).ok());
      disk.fail_at(at, with_effect);
      const Status status = save(*storage, "c", {{"t", tensor("f32[3] 4 5 6")}});
      const bool has_failed = disk.calls() >= at;
      disk.fail_at(0);
      auto reader = CheckpointReader::open(*storage, "c");
      REQUIRE(reader.ok());
      auto value = reader->read("t", host_allocator());
      if (value.ok()) {
        const bool is_old = equal(*value, tensor("f32[3] 1 2 3"));
        CHECK((is_old || equal(*value, tensor("f32[3] 4 5 6"))));
        old += is_old;
        fresh += !is_old;
      } else { // between the names of its two files
        CHECK(value.status().code() == Code::data_loss);
        ++noticed;
      }
      if (status.ok())
        CHECK(equal(*value, tensor("f32[3] 4 5 6")));
      if (!has_failed)
        break;
    }
  CHECK(old > 10);
  CHECK(fresh >= 2);
  CHECK(noticed <= 5); // the folder's sync after the first name, and the second name
}

TEST_CASE("checkpoint: who is told to stop stops between two pieces, and leaves the old one") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  const Tensor large = Tensor::make(DType::uint8, Shape{5 << 20});
  REQUIRE(save(*storage, "c", {{"t", tensor("f32[] 1")}}).ok());
  int pieces = 0;
  const auto stops = [&]() -> Status { return ++pieces == 3 ? cancelled("enough") : Status{}; };
  {
    auto writer = CheckpointWriter::create(*storage, "c", stops);
    CHECK(writer->add("large", large) == cancelled("enough"));
  }
  CHECK(read(*storage, "c", "t").value<float>() == 1);
  CHECK(disk.paths().size() == 2);
  REQUIRE(save(*storage, "d", {{"large", large}}).ok());
  pieces = 0;
  auto reader = CheckpointReader::open(*storage, "d", stops);
  CHECK(reader->read("large", host_allocator()).status() == cancelled("enough"));
}

TEST_CASE("checkpoint: a full disk leaves the old one whole") {
  for (int at = 1; at < 30; ++at) {
    SimulatedDisk disk;
    auto storage = make_local_storage("/disk", disk);
    REQUIRE(save(*storage, "c", {{"t", tensor("f32[3] 1 2 3")}}).ok());
    disk.fill_at(at);
    const Status status = save(*storage, "c", {{"t", tensor("f32[3] 4 5 6")}});
    CHECK(equal(read(*storage, "c", "t"), tensor(status.ok() ? "f32[3] 4 5 6" : "f32[3] 1 2 3")));
    if (status.ok()) {
      CHECK(at > 3);
      return;
    }
    CHECK(status.code() == Code::resource_exhausted);
    CHECK(disk.paths().size() == 2);
  }
  FAIL("no write came to its end");
}

TEST_CASE("checkpoint: every damaged bit is noticed or of no account; nothing crashes") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  const Tensor number = tensor("f32[2] 1 2"), text = tensor("str[2] \"ab\" \"\"");
  REQUIRE(save(*storage, "c", {{"n", number}, {"s", text}}).ok());
  for (const char* file : {"c.index", "c.data-00000-of-00001"}) {
    const std::string whole = *storage->get(file, 1 << 20);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      REQUIRE(storage->put(file, damaged).ok());
      auto reader = CheckpointReader::open(*storage, "c");
      if (!reader.ok())
        continue;
      for (auto [name, expected] : {std::pair("n", number), std::pair("s", text)}) {
        auto value = reader->read(name, host_allocator());
        CHECK((!value.ok() || equal(*value, expected)));
      }
    }
    REQUIRE(storage->put(file, whole).ok());
  }
}

TEST_CASE("checkpoint: files that were cut are told with TensorFlow's codes and words") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  REQUIRE(save(*storage, "c", {{"n", tensor("f32[2] 1 2")}}).ok());
  const std::string index = *storage->get("c.index", 1 << 20);
  REQUIRE(storage->put("c.data-00000-of-00001", "1234567").ok());
  auto reader = CheckpointReader::open(*storage, "c");
  REQUIRE(reader.ok());
  const Status cut = reader->read("n", host_allocator()).status();
  CHECK(cut.code() == Code::out_of_range);
  CHECK(cut.message().starts_with("Read less bytes than requested"));
  for (auto [bytes, words] :
       {std::pair(index.substr(0, 20), "too short to be an sstable"),
        std::pair(std::string(300, 'x'), "not an sstable (bad magic number)")}) {
    REQUIRE(storage->put("c.index", bytes).ok());
    const Status status = CheckpointReader::open(*storage, "c").status();
    CHECK(status.code() == Code::data_loss);
    CHECK_MESSAGE(status.message().find(words) != std::string::npos, status.message());
  }
}

TEST_CASE("checkpoint: there is none") {
  SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  const Status status = CheckpointReader::open(*storage, "c").status();
  CHECK(status.code() == Code::not_found);
  CHECK(status.message() ==
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for c");
}

TEST_CASE("tensor slice: text, messages, refusals") {
  for (const char* text : {"", "-", "0,1", "3,4:-:0,7"}) {
    auto slice = TensorSlice::parse(text);
    REQUIRE(slice.ok());
    CHECK(slice->to_string() == text);
    CHECK(TensorSlice::from_message(slice->to_message()) == *slice);
  }
  for (const char* text : {"x", "0", "0,0", "-1,2", "0,1:", "1,2,3"})
    CHECK(TensorSlice::parse(text).status().code() == Code::invalid_argument);
  for (const char* text : {"4", "", "4 x 0,1", "4 3 0,1", "4 3,2", "-4 -"})
    CHECK_FALSE(parse_shape_and_slice(text).ok());
  auto whole = parse_shape_and_slice("4 5 1,2:-");
  REQUIRE(whole.ok());
  CHECK(whole->full == Shape{4, 5});
  CHECK(whole->shape == Shape{2, 5});
}
