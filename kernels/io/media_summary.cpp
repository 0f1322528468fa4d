// ImageSummary, AudioSummary, AudioSummaryV2: pictures as PNG, sound as WAV, in Summary messages.
#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/io/internal/media.hpp"

namespace troupe::io_media_summary {
namespace {

Status image(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Tags must be a scalar");
  TROUPE_ASSIGN(const TensorBox bad_color, c.attr<TensorBox>("bad_color"));
  TROUPE_ASSIGN(MessageWriter summary,
                io::picture_summary(c, c.input(0).value<std::string>(), c.input(1),
                                    c.attrs().get_or<std::int64_t>("max_images", 3),
                                    bad_color.tensor));
  return c.set_output(0, Tensor::scalar(summary.take()));
}

Status audio(KernelContext& c, float rate) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Tag must be a scalar");
  TROUPE_ASSIGN(MessageWriter summary,
                io::sound_summary(c, c.input(0).value<std::string>(), c.input(1),
                                  c.attrs().get_or<std::int64_t>("max_outputs", 3), rate));
  return c.set_output(0, Tensor::scalar(summary.take()));
}

Status audio_v1(KernelContext& c) {
  TROUPE_ASSIGN(const float rate, c.attr<float>("sample_rate"));
  return audio(c, rate);
}

Status audio_v2(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument("Tag must be a scalar");
  if (c.input(2).num_elements() != 1)
    return invalid_argument("sample_rate must be rank-0 or contain a single value");
  return audio(c, c.input(2).data<float>()[0]);
}

KernelOptions options() {
  KernelOptions out;
  out.expensive = true;
  return out;
}

constexpr auto is_text = "its value is a message";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("ImageSummary")
      .input("tag: string; tensor: T")
      .output("summary: string")
      .attr("max_images: int >= 1 = 3; T: {uint8, float, half, double} = DT_FLOAT; "
            "bad_color: tensor = u8[4] 255 0 0 255")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(image, options())
      .doc("A Summary message with up to `max_images` pictures; pixels that are not finite are of "
           "`bad_color`.");
  library.op("AudioSummary")
      .input("tag: string; tensor: float")
      .output("summary: string")
      .attr("sample_rate: float; max_outputs: int >= 1 = 3")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(audio_v1, options())
      .doc("A Summary message with up to `max_outputs` sounds.");
  library.op("AudioSummaryV2")
      .input("tag: string; tensor: float; sample_rate: float")
      .output("summary: string")
      .attr("max_outputs: int >= 1 = 3")
      .shape_fn(shape_scalar)
      .not_differentiable(is_text)
      .cpu_kernel(audio_v2, options())
      .doc("A Summary message with up to `max_outputs` sounds.");
}

} // namespace troupe::io_media_summary
