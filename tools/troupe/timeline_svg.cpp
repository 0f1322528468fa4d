#include "tools/troupe/timeline_svg.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "tools/troupe/duration.hpp"

namespace troupe {
namespace {

// Pixels.
constexpr double width = 1200, left = 16, right = 16, row_height = 18, band_head = 22,
                 band_gap = 12;
constexpr double top = 64, letter = 6.3, narrowest = 0.7;

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}

std::string pixels(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f", value);
  return out;
}

// What kind of work a bar is.
struct Kind {
  const char* name;
  const char* colour;
};
constexpr Kind kinds[] = {{"kernel", "#4c78a8"},
                          {"send, receive", "#e45756"},
                          {"variables", "#54a24b"},
                          {"runtime: caller, master, worker", "#bab0ac"}};

const Kind& kind_of(const std::string& op) {
  if (op == "Session::run" || op == "RunGraph" || op == "ExecuteGraph")
    return kinds[3];
  const OpSchema* schema = op_library().ops.find(op);
  if (!schema)
    return kinds[0];
  if (schema->roles.has_any(transfer_roles))
    return kinds[1];
  constexpr RoleSet of_variables{Role::variable, Role::reads_variable, Role::side_effect};
  return kinds[schema->roles.has_any(of_variables) ? 2 : 0];
}

class Picture {
public:
  explicit Picture(const StepStats& stats) : stats_(stats) {
    for (const DeviceStats& device : stats.devices)
      for (const NodeStats& span : device.nodes) {
        begin_ = begin_ == 0 ? span.start_us : std::min(begin_, span.start_us);
        end_ = std::max(end_, span.end_us);
      }
    end_ = std::max(end_, begin_ + 1);
  }

  std::string draw(const std::string& title) {
    text(left, 22, title, 15);
    draw_legend();
    double y = top;
    for (const DeviceStats& device : stats_.devices)
      y = draw_band(device, y);
    double bottom = y;
    std::string grid = draw_axis(bottom);
    return str_cat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", pixels(width), " ",
                   pixels(bottom + 24), "\" font-family=\"sans-serif\">\n",
                   "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", grid, out_,
                   "</svg>\n");
  }

private:
  double x_of(std::int64_t time_us) const {
    return left + (width - left - right) * static_cast<double>(time_us - begin_) /
                      static_cast<double>(end_ - begin_);
  }

  void text(double x, double y, std::string_view what, int size) {
    str_append(out_, "<text x=\"", pixels(x), "\" y=\"", pixels(y), "\" font-size=\"", size, "\">",
               escaped(what), "</text>\n");
  }

  void rectangle(double x, double y, double w, double h, const char* fill) {
    str_append(out_, "<rect x=\"", pixels(x), "\" y=\"", pixels(y), "\" width=\"", pixels(w),
               "\" height=\"", pixels(h), "\" fill=\"", fill, "\"");
  }

  void draw_legend() {
    double x = left;
    for (const Kind& kind : kinds) {
      rectangle(x, 34, 11, 11, kind.colour);
      out_ += "/>\n";
      text(x + 16, 44, kind.name, 11);
      x += 16 + letter * static_cast<double>(std::string_view(kind.name).size()) + 24;
    }
  }

  // Ticks at 1, 2 or 5 times a power of ten, ten or so of them.
  std::string draw_axis(double bottom) {
    std::int64_t span = end_ - begin_, step = 1;
    for (int i = 0; span / step > 12; ++i)
      step = step / (i % 3 == 1 ? 2 : 1) * (i % 3 == 1 ? 5 : 2);
    std::string grid;
    for (std::int64_t at = 0; at <= span; at += step) {
      double x = x_of(begin_ + at);
      str_append(grid, "<line x1=\"", pixels(x), "\" y1=\"", pixels(top - 8), "\" x2=\"", pixels(x),
                 "\" y2=\"", pixels(bottom), "\" stroke=\"#dddddd\"/>\n");
      text(x, bottom + 14, format_micros(at), 11);
    }
    return grid;
  }

  double draw_band(const DeviceStats& device, double y) {
    std::vector<const NodeStats*> spans;
    for (const NodeStats& span : device.nodes)
      spans.push_back(&span);
    std::stable_sort(spans.begin(), spans.end(),
                     [](auto* a, auto* b) { return a->start_us < b->start_us; });
    text(left, y + 14,
         str_cat(device.device, ": ", spans.size(), spans.size() == 1 ? " span, " : " spans, ",
                 "something runs for ", format_micros(busy(spans))),
         12);
    y += band_head;
    std::vector<std::int64_t> free_from;
    for (const NodeStats* span : spans) {
      auto row = std::find_if(free_from.begin(), free_from.end(),
                              [&](std::int64_t t) { return t <= span->start_us; });
      if (row == free_from.end())
        row = free_from.insert(row, 0);
      *row = std::max(span->end_us, span->start_us + 1);
      draw_bar(*span, y + row_height * static_cast<double>(row - free_from.begin()));
    }
    return y + row_height * static_cast<double>(free_from.size()) + band_gap;
  }

  void draw_bar(const NodeStats& span, double y) {
    double x = x_of(span.start_us), w = std::max(x_of(span.end_us) - x, narrowest);
    rectangle(x, y, w, row_height - 3, kind_of(span.op).colour);
    std::string about =
        str_cat(span.node, " (", span.op, ") at ", format_micros(span.start_us - begin_), " for ",
                format_micros(span.end_us - span.start_us));
    if (!span.detail.empty())
      str_append(about, ", ", span.detail);
    str_append(out_, "><title>", escaped(about), "</title></rect>\n");
    std::string label = span.node == span.op ? span.op : str_cat(span.op, " ", span.node);
    auto letters = static_cast<std::size_t>(std::max(0.0, (w - 6) / letter));
    if (letters >= std::min<std::size_t>(span.op.size(), 4))
      str_append(out_, "<text x=\"", pixels(x + 3), "\" y=\"", pixels(y + 11),
                 "\" font-size=\"10\" fill=\"white\" pointer-events=\"none\">",
                 escaped(label.substr(0, letters)), "</text>\n");
  }

  static std::int64_t busy(const std::vector<const NodeStats*>& by_start) {
    std::int64_t total = 0, covered = 0;
    for (const NodeStats* span : by_start) {
      total += std::max<std::int64_t>(0, span->end_us - std::max(covered, span->start_us));
      covered = std::max(covered, span->end_us);
    }
    return total;
  }

  const StepStats& stats_;
  std::int64_t begin_ = 0, end_ = 0;
  std::string out_;
};

} // namespace

std::string to_svg(const StepStats& stats, const std::string& title) {
  return Picture(stats).draw(title);
}

} // namespace troupe
