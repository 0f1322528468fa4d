// What every_dtype_test.cpp has to know of single ops: inputs and attributes that their signatures
// do not tell, those that it leaves out, and those that may refuse.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/op/schema.hpp"

namespace troupe::testing {

/// What the signature of an op does not tell. Inputs: "?" for what it does, or a literal, whose
/// numbers are cast to the input's dtype.
struct Hint {
  std::vector<std::string> inputs = {};
  std::vector<std::pair<std::string, AttrValue>> attrs = {};
};

using Ints = std::vector<std::int64_t>;

inline const std::map<std::string, Hint, std::less<>>& hints() {
  using Attrs = std::vector<std::pair<std::string, AttrValue>>;
  static const Attrs convolution{{"strides", Ints{1, 1, 1, 1}}, {"padding", std::string("SAME")}};
  static const Attrs pool{
      {"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 1, 1, 1}}, {"padding", std::string("SAME")}};
  static const Attrs volumes{{"strides", Ints{1, 1, 1, 1, 1}}, {"padding", std::string("SAME")}};
  static const Attrs volume_pool{{"ksize", Ints{1, 2, 2, 2, 1}}, volumes[0], volumes[1]};
  static const std::string volume = "f32[1,2,2,2,1] 1", one = "f32[1,1,1,1,1] 1";
  static const std::string five = "i32[5] 1 2 2 2 1", image = "f32[1,2,2,2] 1";
  static const std::string index = "i64[1,2] 0", entry = "f32[1] 1", square = "i64[2] 2";
  static const std::string regular = "f32[2,2] 2 0 0 1", matrix = "f32[2,2] 1";
  static const std::vector<std::string> generator = {"i32[1] 2", "u64[1] 1", "u64[2] 1", "i32[] 1"};
  static const Attrs unique_class{{"unique", true}, {"num_true", std::int64_t{1}}};
  static const Hint candidates{{"i64[1,1] 0"}, unique_class};
  static const Hint segment_count{{"f32[1] 1", "i32[1] 0", "i32[1] 0", "i32[] 1"}, {}};
  static const Attrs set_union{{"set_operation", std::string("union")}};
  static const std::string places = "i64[1,2,2,2] 0 1 2 3 4 5 6 7", plane = "f32[2,2,2] 1";
  static const std::string square_window = "i32[4] 1 2 2 1", each_step = "i32[4] 1";
  static const Attrs same{{"padding", std::string("SAME")}};
  static const Attrs dilation{{"strides", Ints{1, 1, 1, 1}}, {"rates", Ints{1, 1, 1, 1}}, same[0]};
  static const Attrs patches{{"ksizes", Ints{1, 2, 2, 1}}, dilation[0], dilation[1], same[0]};
  static const Attrs fractional{{"pooling_ratio", std::vector<float>{1, 2, 2, 1}}};
  static const std::string square_ones = "f32[2,2] 1";
  static const std::string activations = "f32[2,1,3] 1 0 2 0 1 0", label = "i64[1,2] 0";
  static const std::vector<std::string> cell = {square_ones, square_ones, square_ones, "f32[4,8] 1",
                                                "f32[2] 1",  "f32[2] 1",  "f32[2] 1",  "f32[8] 1"};
  const auto block = [](int cells) {
    std::vector<std::string> out = {"i64[] 1", "f32[1,2,2] 1"};
    out.insert(out.end(), cell.begin() + 1, cell.end());
    out.insert(out.end(), static_cast<std::size_t>(cells), "f32[1,2,2] 1");
    return out;
  };
  static const std::vector<std::string> gru = {square_ones,  square_ones, "f32[4,4] 1",
                                               "f32[4,2] 1", "f32[4] 1",  "f32[2] 1"};
  const auto more = [](std::vector<std::string> inputs, std::size_t states) {
    inputs.insert(inputs.end(), states, square_ones);
    return inputs;
  };
  static const std::string new_size = "i32[2] 3 3", twice = "f32[2] 2", nowhere = "f32[2] 0";
  static const std::string pixels = "f32[2,2,3] 1", one_box = "f32[1,4] 0 0 1 1";
  static const std::string silence = // one sample
      "str[] \"RIFF\\x26\\x00\\x00\\x00WAVEfmt \\x10\\x00\\x00\\x00\\x01\\x00\\x01\\x00"
      "\\x40\\x1f\\x00\\x00\\x80\\x3e\\x00\\x00\\x02\\x00\\x10\\x00"
      "data\\x02\\x00\\x00\\x00\\x00\\x00\"";
  static const std::string jpeg =
      "str[] \""
      "\\xff\\xd8\\xff\\xe0\\x00\\x10\\x4a\\x46\\x49\\x46\\x00\\x01\\x01\\x01\\x01\\x2c"
      "\\x01\\x2c\\x00\\x00\\xff\\xdb\\x00\\x43\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
      "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
      "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
      "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
      "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xc0\\x00\\x0b\\x08\\x00\\x01"
      "\\x00\\x01\\x01\\x01\\x11\\x00\\xff\\xc4\\x00\\x14\\x00\\x01\\x00\\x00\\x00\\x00"
      "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\xff\\xc4\\x00\\x14"
      "\\x10\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
      "\\x00\\x00\\xff\\xda\\x00\\x08\\x01\\x01\\x00\\x00\\x3f\\x00\\x2f\\xff\\xd9"
      "\"";
  static const std::string bmp =
      "str[] "
      "\"BM\\x24\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x20\\x00\\x00\\x00\\x28\\x00\\x00\\x00\\x01\\x"
      "00\\x00\\x00\\x01\\x00\\x00\\x00\\x01\\x00\\x18\\x00\\x00\\x00\\x01\\x02\\x03\\x00\"";
  static const std::string low = "f32[] 0", high = "f32[] 1", channels = "f32[2] 1";
  static const Attrs mirroring{
      {"mode", std::string("REFLECT")}, convolution[0], {"padding", std::string("SAME")}};
  static const Attrs group_of_one{{"group_size", std::int64_t{1}}, {"shape", PartialShape{2}}};
  static const Attrs merged{{"merge_op", std::string("Add")}, {"final_op", std::string("Div")}};
  static const Attrs merged_alone{
      group_of_one[0], merged[0], merged[1], {"subdiv_offsets", Ints{0}}};
  static const Attrs peephole{{"use_peephole", true}};
  static const Attrs program{{"program", std::vector<std::string>{"Add 0 1"}}};
  static const std::map<std::string, Hint, std::less<>> all = {
      {"AudioSummary", {{}, {{"sample_rate", 1.0F}}}},
      {"AudioSummaryV2", {{"str[] \"a\"", "f32[1,1] 1", "f32[] 1"}, {}}},
      {"AvgPool", {{}, pool}},
      {"AvgPoolGrad", {{"i32[4] 1 2 2 2", "?"}, pool}},
      {"BatchToSpace",
       {{"f32[4,1,1,1] 1 1 1 1", "i32[2,2] 0 0 0 0"}, {{"block_size", std::int64_t{2}}}}},
      {"BatchToSpaceND", {{"f32[4,1,1,1] 1 1 1 1", "i32[2] 2 2", "i32[2,2] 0 0 0 0"}, {}}},
      {"Bincount", {{"i32[2] 0 1", "i32[] 3", "?"}, {}}},
      {"Bitcast", {{"f32[16] 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"}, {}}},
      {"Bucketize", {{}, {{"boundaries", std::vector<float>{0}}}}},
      {"CollectiveBcastSend", {{"f32[2] 1"}, group_of_one}},
      {"CollectiveGather", {{"f32[2] 1"}, group_of_one}},
      {"CollectiveReduce", {{}, merged_alone}},
      {"CollectiveReduceScatterV2", {{}, merged}},
      {"CollectiveReduceV2", {{}, merged}},
      {"ConjugateTranspose", {{"?", "i32[2] 1 0"}, {}}},
      {"Conv2D", {{}, convolution}},
      {"Conv2DBackpropFilter", {{"?", "i32[4] 1 2 2 2", "?"}, convolution}},
      {"Conv2DBackpropInput", {{"i32[4] 1 2 2 2", "?", "?"}, convolution}},
      {"DebugNumericSummaryV2", {{"?"}, {{"tensor_debug_mode", std::int64_t{2}}}}},
      {"DecodeCSV", {{"str[1] \"1,a\""}, {}}},
      {"DecodePaddedRaw", {{"?", "i32[] 16"}, {}}},
      {"DenseToDenseSetOperation", {{matrix, matrix}, set_union}},
      {"DenseToSparseSetOperation", {{matrix, index, entry, square}, set_union}},
      {"HistogramFixedWidth", {{"?", "f32[2] 0 5", "i32[] 3"}, {}}},
      {"SetSize", {{index, entry, square}, {}}},
      {"SparseToSparseSetOperation", {{index, entry, square, index, entry, square}, set_union}},
      {"ImageSummary", {{"str[] \"a\"", "f32[1,1,1,1] 1"}, {}}},
      {"DenseBincount", {{"i32[2] 0 1", "i32[] 3", "?"}, {}}},
      {"DepthToSpace", {{"f32[1,1,1,4] 1 1 1 1"}, {}}},
      {"DynamicPartition", {{"?", "i32[2] 1 0"}, {}}},
      {"Einsum", {{}, {{"equation", std::string("...,...->...")}}}},
      {"XlaEinsum", {{}, {{"equation", std::string("...,...->...")}}}},
      {"InTopKV2", {{"f32[2,2] 1", "i32[2] 0", "i32[] 1"}, {}}},
      {"InvertPermutation", {{"i32[2] 1 0"}, {}}},
      {"MatrixDiagV2", {{"?", "i32[] 0", "i32[] -1", "i32[] -1", "f32[] 0"}, {}}},
      {"MatrixDiagV3", {{"?", "i32[] 0", "i32[] -1", "i32[] -1", "f32[] 0"}, {}}},
      {"DeviceIndex", {{}, {{"device_names", std::vector<std::string>{"CPU"}}}}},
      {"MaxPool", {{}, pool}},
      {"MaxPoolGrad", {{}, pool}},
      {"MaxPoolV2", {{image, square_window, each_step}, same}},
      {"MaxPoolGradV2", {{image, image, image, square_window, each_step}, same}},
      {"MaxPoolGradGrad", {{image, image, image}, pool}},
      {"MaxPoolGradGradV2", {{image, image, image, square_window, each_step}, same}},
      {"MaxPoolWithArgmax", {{image}, pool}},
      {"MaxPoolGradWithArgmax", {{image, image, places}, pool}},
      {"Dilation2D", {{image, plane}, dilation}},
      {"Dilation2DBackpropInput", {{image, plane, image}, dilation}},
      {"Dilation2DBackpropFilter", {{image, plane, image}, dilation}},
      {"ExtractImagePatches", {{image}, patches}},
      {"ExtractVolumePatches",
       {{volume}, {{"ksizes", Ints{1, 2, 2, 2, 1}}, volumes[0], volumes[1]}}},
      {"Fingerprint", {{"?", "str[] \"farmhash64\""}, {}}},
      {"FractionalAvgPool", {{image}, fractional}},
      {"FractionalMaxPool", {{image}, fractional}},
      {"FractionalAvgPoolGrad",
       {{"i64[4] 1 2 2 2", "f32[1,1,1,2] 1", "i64[2] 0 2", "i64[2] 0 2"}, {}}},
      {"FractionalMaxPoolGrad",
       {{image, "f32[1,1,1,2] 1", "f32[1,1,1,2] 1", "i64[2] 0 2", "i64[2] 0 2"}, {}}},
      {"CTCLoss", {{activations, label, "i32[1] 0", "i32[1] 2"}, {}}},
      {"CTCGreedyDecoder", {{activations, "i32[1] 2"}, {}}},
      {"CTCBeamSearchDecoder",
       {{activations, "i32[1] 2"},
        {{"beam_width", std::int64_t{2}}, {"top_paths", std::int64_t{1}}}}},
      {"LSTMBlockCell", {cell, {}}},
      {"LSTMBlockCellGrad", {more(cell, 8), peephole}},
      {"BlockLSTM", {block(0), {}}},
      {"BlockLSTMV2", {block(0), {}}},
      {"BlockLSTMGrad", {block(9), peephole}},
      {"BlockLSTMGradV2", {block(9), peephole}},
      {"GRUBlockCell", {gru, {}}},
      {"GRUBlockCellGrad", {more(gru, 4), {}}},
      {"ResizeArea", {{image, new_size}, {}}},
      {"ResizeBicubic", {{image, new_size}, {}}},
      {"ResizeBicubicGrad", {{image, image}, {}}},
      {"ResizeBilinear", {{image, new_size}, {}}},
      {"ResizeBilinearGrad", {{image, image}, {}}},
      {"ResizeNearestNeighbor", {{image, new_size}, {}}},
      {"ResizeNearestNeighborGrad", {{image, new_size}, {}}},
      {"ScaleAndTranslate", {{image, new_size, twice, nowhere}, {}}},
      {"ScaleAndTranslateGrad", {{image, image, twice, nowhere}, {}}},
      {"AdjustContrast", {{image, "?", "?", "?"}, {}}},
      {"AdjustHue", {{pixels, "f32[] 1"}, {}}},
      {"AdjustSaturation", {{pixels, "f32[] 1"}, {}}},
      {"CropAndResize", {{image, one_box, "i32[1] 0", new_size}, {}}},
      {"CropAndResizeGradBoxes", {{image, image, one_box, "i32[1] 0"}, {}}},
      {"CropAndResizeGradImage", {{image, one_box, "i32[1] 0", "i32[4] 1 2 2 2"}, {}}},
      {"DrawBoundingBoxes", {{"f32[1,2,2,3] 1", "f32[1,1,4] 0"}, {}}},
      {"DrawBoundingBoxesV2", {{"f32[1,2,2,3] 1", "f32[1,1,4] 0", "f32[1,4] 1"}, {}}},
      {"HSVToRGB", {{pixels}, {}}},
      {"RGBToHSV", {{pixels}, {}}},
      {"CombinedNonMaxSuppression",
       {{"f32[1,2,1,4] 1", "f32[1,2,1] 1", "i32[] 1", "i32[] 1", "f32[] 1", "f32[] 0"}, {}}},
      {"NonMaxSuppression", {{one_box, "f32[1] 1", "?"}, {}}},
      {"NonMaxSuppressionV2", {{one_box, "f32[1] 1", "?", "?"}, {}}},
      {"NonMaxSuppressionV3", {{one_box, "f32[1] 1", "?", "?", "?"}, {}}},
      {"NonMaxSuppressionV4", {{one_box, "f32[1] 1", "?", "?", "?"}, {}}},
      {"NonMaxSuppressionV5", {{one_box, "f32[1] 1", "?", "?", "?", "?"}, {}}},
      {"NonMaxSuppressionWithOverlaps", {{"f32[1,1] 1", "f32[1] 1", "?", "?", "?"}, {}}},
      {"DecodeAndCropJpeg", {{jpeg, "i32[4] 0 0 1 1"}, {}}},
      {"DecodeBmp", {{bmp}, {}}},
      {"DecodeWav", {{silence}, {}}},
      {"Mfcc", {{"f32[1,2,257] 1", "i32[] 16000"}, {}}},
      {"DecodeGif", {{jpeg}, {}}},
      {"DecodeImage", {{bmp}, {}}},
      {"DecodeJpeg", {{jpeg}, {}}},
      {"DecodePng", {{jpeg}, {}}},
      {"EncodeJpeg", {{"f32[1,1,3] 1"}, {}}},
      {"EncodeJpegVariableQuality", {{"f32[1,1,3] 1", "?"}, {}}},
      {"EncodePng", {{"f32[1,1,3] 1"}, {}}},
      {"ExtractJpegShape", {{jpeg}, {}}},
      {"FakeQuantWithMinMaxVarsGradient", {{"?", "?", "f32[] 0", "f32[] 1"}, {}}},
      {"FakeQuantWithMinMaxVarsPerChannelGradient",
       {{square_ones, square_ones, "f32[2] 0", "f32[2] 1"}, {}}},
      {"ImageProjectiveTransformV2",
       {{image, "f32[1,8] 1", new_size}, {{"interpolation", std::string("BILINEAR")}}}},
      {"ImageProjectiveTransformV3",
       {{image, "f32[1,8] 1", new_size, "?"}, {{"interpolation", std::string("BILINEAR")}}}},
      {"SampleDistortedBoundingBox", {{"i32[3] 9 9 3", "f32[1,1,4] 0 0 1 1"}, {}}},
      {"SampleDistortedBoundingBoxV2", {{"i32[3] 9 9 3", "f32[1,1,4] 0 0 1 1", "?"}, {}}},
      {"StatelessSampleDistortedBoundingBox",
       {{"i32[3] 9 9 3", "f32[1,1,4] 0 0 1 1", "?", "i32[2] 1 2"}, {}}},
      {"QuantizedAdd", {{"?", "?", low, high, low, high}, {}}},
      {"QuantizedAvgPool", {{image, low, high}, pool}},
      {"QuantizedBatchNormWithGlobalNormalization",
       {{image, low, high, channels, low, high, channels, low, high, channels, low, high, channels,
         low, high},
        {{"variance_epsilon", 1.0F}, {"scale_after_normalization", true}}}},
      {"QuantizedBiasAdd", {{square_ones, channels, low, high, low, high}, {}}},
      {"QuantizedConcat", {{"i32[] 0", entry, entry, low, low, high, high}, {}}},
      {"QuantizedConv2D", {{image, image, low, high, low, high}, convolution}},
      {"QuantizedInstanceNorm", {{image, low, high}, {}}},
      {"QuantizedMatMul", {{"?", "?", low, high, low, high}, {}}},
      {"QuantizedMaxPool", {{image, low, high}, pool}},
      {"QuantizedMul", {{"?", "?", low, high, low, high}, {}}},
      {"QuantizedReshape", {{"?", "i32[1] -1", low, high}, {}}},
      {"QuantizedResizeBilinear", {{image, new_size, low, high}, {}}},
      {"Requantize", {{"?", low, high, low, high}, {}}},
      {"QuantizeAndDequantizeV2", {{"?", "f32[] 0", "f32[] 1"}, {}}},
      {"QuantizeAndDequantizeV3", {{"?", "f32[] 0", "f32[] 1", "i32[] 8"}, {}}},
      {"QuantizeAndDequantizeV4", {{"?", "f32[] 0", "f32[] 1"}, {}}},
      {"QuantizeAndDequantizeV4Grad", {{"?", "?", "f32[] 0", "f32[] 1"}, {}}},
      {"ExtractGlimpse", {{image, new_size, "f32[1,2] 0"}, {}}},
      {"ExtractGlimpseV2", {{image, new_size, "f32[1,2] 0"}, {}}},
      {"FusedPadConv2D", {{image, "i32[4,2] 0", image}, mirroring}},
      {"FusedResizeAndPadConv2D", {{image, new_size, "i32[4,2] 0", image}, mirroring}},
      {"MirrorPad", {{"?", "i32[2,2] 0 1 1 0"}, {{"mode", std::string("REFLECT")}}}},
      {"MirrorPadGrad", {{"?", "i32[2,2] 0 1 1 0"}, {{"mode", std::string("SYMMETRIC")}}}},
      {"RaggedBincount", {{"i64[2] 0 2", "i32[2] 0 1", "i32[] 3", "?"}, {}}},
      {"RaggedGather",
       {{"i64[2] 0 1", "f32[1] 1", "i64[1] 0"},
        {{"PARAMS_RAGGED_RANK", std::int64_t{1}}, {"OUTPUT_RAGGED_RANK", std::int64_t{1}}}}},
      {"RaggedTensorToSparse", {{"i64[2] 0 1", "f32[1] 1"}, {{"RAGGED_RANK", std::int64_t{1}}}}},
      {"RaggedTensorToTensor",
       {{"i64[] -1", "f32[1] 1", "f32[] 0", "i64[2] 0 1"},
        {{"num_row_partition_tensors", std::int64_t{1}},
         {"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}}},
      {"RaggedTensorToVariant",
       {{"i64[2] 0 1", "f32[1] 1"}, {{"RAGGED_RANK", std::int64_t{1}}, {"batched_input", true}}}},
      {"RandomUniformInt", {{"i32[1] 2", "i32[] 0", "i32[] 5"}, {}}},
      {"ResourceStridedSliceAssign",
       {{"f32[2] 1", "i32[1] 0", "i32[1] 1", "i32[1] 1", "f32[1] 1"}, {}}},
      {"SplitV", {{"?", "i32[2] 1 1", "i32[] 0"}, {}}},
      {"StridedSliceGrad", {{"i32[1] 2", "i32[1] 0", "i32[1] 1", "i32[1] 1", "f32[1] 1"}, {}}},
      {"StringFormat", {{}, {{"template", std::string("%s %s")}}}},
      {"StringToHashBucketStrong", {{}, {{"key", Ints{1, 2}}}}},
      {"StringToNumber", {{"str[1] \"1\""}, {}}},
      {"Substr", {{"str[1] \"abc\"", "i32[] 1", "i32[] 1"}, {}}},
      {"StridedSliceAssign", {{"f32[2] 1", "i32[1] 0", "i32[1] 1", "i32[1] 1", "f32[1] 1"}, {}}},
      {"Transpose", {{"?", "i32[2] 1 0"}, {}}},
      {"UnicodeDecode", {{}, {{"input_encoding", std::string("UTF-8")}}}},
      {"UnicodeDecodeWithOffsets", {{}, {{"input_encoding", std::string("UTF-8")}}}},
      {"UnicodeEncode", {{"i32[1] 65", "i32[2] 0 1"}, {{"output_encoding", std::string("UTF-8")}}}},
      {"UnicodeTranscode",
       {{}, {{"input_encoding", std::string("UTF-8")}, {"output_encoding", std::string("UTF-8")}}}},
      {"UnsortedSegmentJoin", {{"?", "?", "i32[] 2"}, {}}},
      {"ReverseSequence", {{"?", "i64[2] 1 2"}, {{"seq_dim", std::int64_t{1}}}}},
      {"ScatterNd", {{"i32[2,1] 0 1", "?", "i32[1] 2"}, {}}},
      {"SleepOp", {{"i32[] 0"}, {}}},
      {"SleepIdentityOp", {{"i32[] 0", "?"}, {}}},
      {"SpaceToBatch", {{"?", "i32[2,2] 0 0 0 0"}, {}}},
      {"SpaceToBatchND", {{"?", "i32[2] 2 2", "i32[2,2] 0 0 0 0"}, {}}},
      {"SparseBincount", {{"i64[1,1] 0", "i32[1] 0", "i64[1] 2", "i32[] 3", "?"}, {}}},
      {"SparseToDense", {{"i32[2] 0 1", "i32[1] 2", "?", "f32[] 0"}, {}}},
      {"SplitV", {{"?", "i32[2] 1 1", "i32[] 0"}, {}}},
      {"StridedSliceGrad", {{"i32[1] 2", "i32[1] 0", "i32[1] 1", "i32[1] 1", "f32[1] 1"}, {}}},
      {"TensorScatterAdd", {{"?", "i32[1,1] 0", "?"}, {}}},
      {"Transpose", {{"?", "i32[2] 1 0"}, {}}},
      {"UnsortedSegmentMax", {{"?", "?", "i32[] 2"}, {}}},
      {"UnsortedSegmentMin", {{"?", "?", "i32[] 2"}, {}}},
      {"UnsortedSegmentProd", {{"?", "?", "i32[] 2"}, {}}},
      {"UnsortedSegmentSum", {{"?", "?", "i32[] 2"}, {}}},
      {"AvgPool3D", {{volume}, volume_pool}},
      {"AvgPool3DGrad", {{five, volume}, volume_pool}},
      {"Conv3D", {{volume, one}, volumes}},
      {"Conv3DBackpropFilter", {{volume, one, volume}, volumes}},
      {"Conv3DBackpropFilterV2", {{volume, "i32[5] 1", volume}, volumes}},
      {"Conv3DBackpropInput", {{volume, one, volume}, volumes}},
      {"Conv3DBackpropInputV2", {{five, one, volume}, volumes}},
      {"DepthwiseConv2dNative", {{}, convolution}},
      {"DepthwiseConv2dNativeBackpropFilter", {{image, "i32[4] 1 2 2 1", image}, convolution}},
      {"DepthwiseConv2dNativeBackpropInput",
       {{"i32[4] 1 2 2 2", "f32[1,2,2,1] 1", image}, convolution}},
      {"IRFFT3D", {{image, "i32[3] 2"}, {}}},
      {"Lu", {{regular}, {}}},
      {"BatchMatrixInverse", {{regular}, {}}},
      {"BatchMatrixSolve", {{regular, matrix}, {}}},
      {"MatrixInverse", {{regular}, {}}},
      {"MatrixSolve", {{regular, matrix}, {}}},
      {"MaxPool3D", {{volume}, volume_pool}},
      {"MaxPool3DGrad", {{volume, volume, volume}, volume_pool}},
      {"MaxPool3DGradGrad", {{volume, volume, volume}, volume_pool}},
      {"RFFT3D", {{image, "i32[3] 2"}, {}}},
      {"SparseAdd", {{index, entry, square, index, entry, square, "f32[] 0"}, {}}},
      {"SparseConcat",
       {{index, index, entry, entry, square, square}, {{"concat_dim", std::int64_t{0}}}}},
      {"SparseFillEmptyRows", {{index, entry, square, "f32[] 1"}, {}}},
      {"SparseSegmentMeanWithNumSegments", segment_count},
      {"SparseSegmentSqrtNWithNumSegments", segment_count},
      {"SparseSegmentSumWithNumSegments", segment_count},
      {"SparseSliceGrad", {{entry, index, "i64[2] 0", index}, {}}},
      {"SparseSoftmax", {{index, entry, square}, {}}},
      {"SparseSplit", {{"i64[] 0", index, entry, square}, {}}},
      {"SparseTensorDenseAdd", {{index, entry, square, matrix}, {}}},
      {"SparseTensorDenseMatMul", {{index, entry, square, matrix}, {}}},
      {"StatelessMultinomial", {{matrix, "i32[] 2", "i32[2] 1 2"}, {}}},
      {"StatelessRandomNormalV2", {generator, {}}},
      {"StatelessRandomUniformFullInt", {{"i32[1] 2", "i32[2] 1 2"}, {}}},
      {"StatelessRandomUniformFullIntV2", {generator, {}}},
      {"StatelessRandomUniformInt", {{"i32[1] 2", "i32[2] 1 2", "i32[] 0", "i32[] 5"}, {}}},
      {"StatelessRandomUniformIntV2",
       {{"i32[1] 2", "u64[1] 1", "u64[2] 1", "i32[] 1", "i32[] 0", "i32[] 5"}, {}}},
      {"StatelessRandomUniformV2", {generator, {}}},
      {"StatelessTruncatedNormalV2", {generator, {}}},
      {"TridiagonalMatMul", {{"f32[1,2] 1", "f32[1,2] 1", "f32[1,2] 1", matrix}, {}}},
      {"TridiagonalSolve", {{"f32[3,2] 1 2 3 4 5 6", matrix}, {}}},
      {"SparseSegmentMeanGrad", segment_count},
      {"SparseSegmentMeanGradV2", segment_count},
      {"SparseSegmentSqrtNGrad", segment_count},
      {"SparseSegmentSqrtNGradV2", segment_count},
      {"SparseSegmentSumGrad", segment_count},
      {"SparseSegmentSumGradV2", segment_count},
      {"DenseCountSparseOutput", {{"i32[1] 1", "f32[1] 1"}, {{"binary_output", false}}}},
      {"RaggedCountSparseOutput",
       {{"i64[2] 0 1", "i32[1] 1", "f32[1] 1"}, {{"binary_output", false}}}},
      {"SparseCountSparseOutput",
       {{index, "i32[1] 1", square, "f32[1] 1"}, {{"binary_output", false}}}},
      {"SparseDenseCwiseAdd", {{index, entry, square, "f32[] 1"}, {}}},
      {"SparseDenseCwiseDiv", {{index, entry, square, "f32[] 1"}, {}}},
      {"SparseDenseCwiseMul", {{index, entry, square, "f32[] 1"}, {}}},
      {"SparseReduceMax", {{index, entry, square, "i32[1] 0"}, {}}},
      {"SparseReduceMaxSparse", {{index, entry, square, "i32[1] 0"}, {}}},
      {"SparseReduceSum", {{index, entry, square, "i32[1] 0"}, {}}},
      {"SparseReduceSumSparse", {{index, entry, square, "i32[1] 0"}, {}}},
      {"SparseSparseMaximum", {{index, entry, square, index, entry, square}, {}}},
      {"SparseSparseMinimum", {{index, entry, square, index, entry, square}, {}}},
      {"AccumulateNV2", {{"f32[2] 1", "f32[2] 1"}, {}}},
      {"Cross", {{"f32[3] 1", "f32[3] 1"}, {}}},
      {"EditDistance", {{index, entry, square, index, entry, square}, {}}},
      {"NthElement", {{"f32[2] 1", "i32[] 0"}, {}}},
      {"ParallelConcat", {{"f32[1] 1", "f32[1] 1"}, {}}},
      {"Reverse", {{"f32[2] 1", "bool[1] true"}, {}}},
      {"TensorStridedSliceUpdate",
       {{"f32[2] 1", "i32[1] 0", "i32[1] 1", "i32[1] 1", "f32[1] 1"}, {}}},
      {"UniqueV2", {{"f32[2] 1", "i32[1] 0"}, {}}},
      {"UniqueWithCountsV2", {{"f32[2] 1", "i32[1] 0"}, {}}},
      {"UnravelIndex", {{"i32[2] 0 1", "i32[2] 7 6"}, {}}},
      {"ComputeAccidentalHits", {{"i64[1,1] 0", "i64[1] 0"}, {{"num_true", std::int64_t{1}}}}},
      {"AllCandidateSampler", candidates},
      {"FixedUnigramCandidateSampler",
       {{"i64[1,1] 0"},
        {unique_class[0], unique_class[1], {"unigrams", std::vector<float>{1, 2}}}}},
      {"LearnedUnigramCandidateSampler", candidates},
      {"LogUniformCandidateSampler", candidates},
      {"ThreadUnsafeUnigramCandidateSampler", candidates},
      {"UniformCandidateSampler", candidates},
      {"RandomCrop", {{"f32[1,1,1] 1", "i64[2] 1 1"}, {}}},
      {"StatelessRandomGammaV2", {{"i32[1] 2", "i32[2] 1 2", "f32[] 1"}, {}}},
      {"StatelessRandomGammaV3", {{"i32[1] 2", "u64[1] 1", "u64[2] 1", "i32[] 1", "f32[] 1"}, {}}},
      {"StatelessRandomPoisson", {{"i32[1] 2", "i32[2] 1 2", "f32[] 1"}, {}}},
      {"StatelessShuffle", {{"?", "u64[1] 1", "u64[2] 1", "i32[] 1"}, {}}},
      {"SerializeManySparse", {{index, entry, square}, {}}},
      {"SerializeSparse", {{index, entry, square}, {}}},
      {"RaggedCross",
       {{"str[1] \"a\"", "i64[2] 0 1"},
        {{"Nsparse", std::int64_t{0}},
         {"input_order", std::string("R")},
         {"hashed_output", false},
         {"num_buckets", std::int64_t{0}},
         {"ragged_values_types", std::vector<DType>{DType::string}},
         {"ragged_splits_types", std::vector<DType>{DType::int64}},
         {"sparse_values_types", std::vector<DType>{}},
         {"dense_types", std::vector<DType>{}}}}},
      {"SparseCross",
       {{index, "str[1] \"a\"", square},
        {{"N", std::int64_t{1}},
         {"hashed_output", false},
         {"num_buckets", std::int64_t{0}},
         {"sparse_types", std::vector<DType>{DType::string}},
         {"dense_types", std::vector<DType>{}}}}},
      {"SparseCrossHashed",
       {{index, "str[1] \"a\"", square, "i64[] 1", "bool[] true", "i64[2] 1"},
        {{"N", std::int64_t{1}},
         {"sparse_types", std::vector<DType>{DType::string}},
         {"dense_types", std::vector<DType>{}}}}},
      {"SparseCrossV2",
       {{index, "str[1] \"a\"", square, "str[] \"-\""},
        {{"N", std::int64_t{1}},
         {"sparse_types", std::vector<DType>{DType::string}},
         {"dense_types", std::vector<DType>{}}}}},
      {"BatchNormWithGlobalNormalization",
       {{image, "f32[2] 1", "f32[2] 1", "f32[2] 1", "f32[2] 1"},
        {{"variance_epsilon", 1.0F}, {"scale_after_normalization", true}}}},
      {"BatchNormWithGlobalNormalizationGrad",
       {{image, "f32[2] 1", "f32[2] 1", "f32[2] 1", image},
        {{"variance_epsilon", 1.0F}, {"scale_after_normalization", true}}}},
      {"StatelessRandomBinomial", {{"i32[1] 2", "i32[2] 1 2", "f32[] 1", "f32[] 0.5"}, {}}},
      {"ParameterizedTruncatedNormal",
       {{"i32[1] 2", "f32[] 0", "f32[] 1", "f32[] -1", "f32[] 1"}, {}}},
      {"StatelessParameterizedTruncatedNormal",
       {{"i32[1] 2", "i32[2] 1 2", "f32[] 0", "f32[] 1", "f32[] -1", "f32[] 1"}, {}}},
      {"DecodeJSONExample", {{"str[1] \"{}\""}, {}}},
      {"SobolSample", {{"i32[] 2", "i32[] 2", "i32[] 0"}, {}}},
      {"StringNGrams",
       {{"str[2] \"a\" \"b\"", "i32[2] 0 2"},
        {{"ngram_widths", Ints{2}}, {"preserve_short_sequences", false}}}},
      {"_FusedElementwise", {{}, program}},
      {"_FusedMatMul", {{}, {{"num_args", std::int64_t{1}}, program[0]}}},
  };
  return all;
}

/// Updates of rows: two rows of two for variables and gradient, two indices, scalars.
inline Hint hint_of_rows(const OpSchema& schema) {
  Hint out;
  for (const ArgDef& input : schema.inputs)
    out.inputs.emplace_back(input.is_ref || input.type == DType::resource || input.name == "grad"
                                ? "f32[2,2] 1"
                            : input.name == "indices"  ? "i32[2] 1 0"
                            : input.name == "lr_power" ? "f32[] -1"
                                                       : "f32[] 1");
  return out;
}

/// Ops that are no functions of values alone, and what runs them instead.
inline const std::map<std::string, std::string, std::less<>>& left_out() {
  constexpr auto generators = "its state is a variable of int64; rng_state_test.cpp has it";
  constexpr auto protos = "needs descriptors of messages; proto_test.cpp has each dtype";
  constexpr auto python = "fails, as a server has no Python; py_func_test.cpp has it";
  constexpr auto messages = "has lists of dtypes alone; parse_example_test.cpp has each";
  constexpr auto sequences = "has lists of dtypes alone; parse_sequence_example_test.cpp has each";
  static const std::map<std::string, std::string, std::less<>> all = {
      {"Abort", "fails its step, as it should; abort_test.cpp has it"},
      {"GetDeadline", "fails where the step has none; api/session_test.cpp has it"},
      {"KernelLabelRequired", "has kernels for labels alone; test_ops_test.cpp has it"},
      {"EagerPyFunc", python},
      {"PyFunc", python},
      {"PyFuncStateless", python},
      {"CollectiveBcastRecv", "needs who sends; tests/integration/collectives_test.cpp has both"},
      {"CollectiveBcastRecvV2", "needs who sends; tests/integration/collectives_test.cpp has both"},
      {"Const", "its value comes with it; const_test.cpp has it"},
      {"DecodeProtoV2", protos},
      {"DeserializeManySparse", "reads messages of its dtype; serialize_test.cpp has it"},
      {"DeserializeSparse", "reads messages of its dtype; serialize_test.cpp has it"},
      {"EncodeProto", protos},
      {"MatchingFiles", "needs files; kernels/io/files_test.cpp has it"},
      {"MergeV2Checkpoints", "needs files; kernels/io/files_test.cpp has it"},
      {"Print", "fills the log; text_ops_test.cpp has it"},
      {"PrintV2", "fills the log; text_ops_test.cpp has it"},
      {"ReadFile", "needs files; kernels/io/files_test.cpp has it"},
      {"RestoreV2", "needs files; kernels/io/files_test.cpp has it"},
      {"SaveV2", "needs files; kernels/io/files_test.cpp has it"},
      {"WriteFile", "needs files; kernels/io/files_test.cpp has it"},
      {"NegTrain", "float alone; word2vec_test.cpp has it"},
      {"Merge", "needs a dead input; control_test.cpp has it"},
      {"ParseExample", messages},
      {"ParseExampleV2", messages},
      {"ParseSequenceExample", sequences},
      {"ParseSequenceExampleV2", sequences},
      {"ParseSingleExample", messages},
      {"ParseSingleSequenceExample", sequences},
      {"ParseTensor", "reads a message of its dtype; summary_test.cpp has it"},
      {"Placeholder", "is fed; placeholder_test.cpp has it"},
      {"PlaceholderV2", "is fed; placeholder_test.cpp has it"},
      {"RefMerge", "needs a dead input; control_test.cpp has it"},
      {"RemoteCall", "calls a function; call_test.cpp has it"},
      {"RngReadAndSkip", generators},
      {"RngSkip", generators},
      {"StatefulRandomBinomial", "its state is a variable of int64; binomial_test.cpp has it"},
      {"StatefulStandardNormalV2", generators},
      {"StatefulTruncatedNormal", generators},
      {"StatefulUniform", generators},
      {"StatefulUniformFullInt", generators},
      {"StatefulUniformInt", generators},
      {"_Arg", "the executor serves it"},
      {"_Refusal", "fails its step, as it should; functional_test.cpp has it"},
      {"_FusedConv2D", "float alone, and made by passes; fused_conv2d_test.cpp has it"},
      {"_HostRecv", "needs a rendezvous; comm_test.cpp has it"},
      {"_HostSend", "needs a rendezvous; comm_test.cpp has it"},
      {"_Recv", "needs a rendezvous; comm_test.cpp has it"},
      {"_Retval", "the executor serves it"},
      {"_Send", "needs a rendezvous; comm_test.cpp has it"},
  };
  return all;
}

/// Ops that refuse some of the dtypes or attributes that they are registered for, and why.
inline const std::map<std::string, std::string, std::less<>>& may_refuse() {
  constexpr auto precisions = "real and complex numbers of two precisions do not mix";
  static const std::map<std::string, std::string, std::less<>> all = {
      {"Bitcast", "elements of 8 bytes are made of a last dimension that holds enough"},
      {"Cast", "a kernel's constraints cannot name pairs; what it refuses TensorFlow refuses"},
      {"Conj", "of variants only sparse matrices have a conjugate, as in TensorFlow"},
      {"Fingerprint",
       "resources and variants have no bytes of their own; TensorFlow refuses them too"},
      {"GuaranteeConst", "handles of resources are no constants; TensorFlow refuses them too"},
      {"IRFFT", precisions},
      {"IRFFT2D", precisions},
      {"IRFFT3D", precisions},
      {"SerializeManySparse", "resources and variants are in no message"},
      {"SerializeSparse", "resources and variants are in no message"},
      {"RFFT", precisions},
      {"RFFT2D", precisions},
      {"RFFT3D", precisions},
  };
  return all;
}

} // namespace troupe::testing
