#include "report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/parts.h"
#include "report/source_line.h"

namespace assay {

namespace {

constexpr size_t kShownPlaces = 8;

// Writes the blocks of one finding around a gutter that is wide enough for every line number.
class FindingText {
 public:
  FindingText(const Report& report, const Finding& finding, const Paint& paint)
      : report_(report), finding_(finding), paint_(paint) {
    uint32_t most = finding.location.line;
    for (const Related& other : finding.related) most = std::max(most, other.location.line);
    gutter_ = fmt::format("{}", most).size();
  }

  std::string text() {
    head();
    source("-->", finding_.location, "", '^', "");
    for (const Related& other : finding_.related) side(other);
    notes();
    return out_;
  }

 private:
  void head() {
    std::string name = fmt::format("{}[{}]", to_string(finding_.level), finding_.rule);
    out_ += paint_.level(finding_.level, name) + paint_.bold(": " + printable(finding_.message)) + "\n";
  }

  void bar(std::string_view number, std::string_view rest) {
    out_ += paint_.frame(fmt::format("{:>{}} |", number, gutter_));
    if (!rest.empty()) out_ += fmt::format(" {}", rest);
    out_ += "\n";
  }

  void source(std::string_view arrow, const Location& where, std::string_view label, char mark,
              std::string_view said) {
    out_ += fmt::format("{}{} {}{}\n", std::string(gutter_, ' '), paint_.frame(arrow),
                        printable(place(where)), label);
    if (where.text.empty()) return;
    SourceLine line = source_line(where);
    bar("", "");
    bar(fmt::format("{}", where.line), line.text);
    std::string marks = underline(line, mark);
    if (!said.empty()) marks += fmt::format("{}{}", marks.empty() ? "" : " ", said);
    if (!marks.empty()) {
      size_t start = std::min(line.start, marks.size());
      std::string painted =
          mark == '^' ? paint_.level(finding_.level, marks.substr(start)) : paint_.frame(marks.substr(start));
      bar("", marks.substr(0, start) + painted);
    }
  }

  void side(const Related& other) {
    bar("", "");
    std::string said = printable(other.message.empty() ? other.symbol : other.message);
    std::string label = fmt::format(" ({})", printable(tree_label(report_, other.location.tree)));
    // Without the line itself what is said of it stands behind the place.
    if (other.location.text.empty() && !said.empty()) label += ": " + said;
    source(":::", other.location, label, '-', said);
  }

  void note(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out_ += fmt::format("{} {} {}: {}\n", std::string(gutter_, ' '), paint_.frame("="), paint_.bold(name),
                        printable(text));
  }

  void notes() {
    bar("", "");
    note("expected", finding_.expected);
    note("observed", finding_.observed);
    note("runs when", finding_.trigger);
    note("also at", further_places(finding_, kShownPlaces));
    note("fix", finding_.fix);
    note("known by", to_string(finding_.evidence));
    for (const std::string& limit : finding_.limits) note("limit", limit);
    note("reproduce", finding_.repro.command);
    note("result", finding_.repro.result);
    attribution();
    if (finding_.state == FindingState::kMasked)
      note("masked by", fmt::format("{}", fmt::join(finding_.blocked_by, ", ")));
    if (finding_.state == FindingState::kPartly) note("state", "fixed in part");
  }

  void attribution() {
    const Attribution& a = finding_.attribution;
    if (a.cls.empty()) return note("attribution", a.basis);
    note("attribution", a.basis.empty() ? a.cls : fmt::format("{}: {}", a.cls, a.basis));
  }

  const Report& report_;
  const Finding& finding_;
  const Paint& paint_;
  size_t gutter_ = 1;
  std::string out_;
};

}  // namespace

std::string finding_text(const Report& report, const Finding& finding, const Paint& paint) {
  return FindingText(report, finding, paint).text();
}

std::string further_places(const Finding& finding, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(most, finding.sites.size()); ++i) {
    const Location& where = finding.sites[i].location;
    std::string text = place(where);
    if (where.file == finding.location.file && where.line != 0) text.erase(0, where.file.size() + 1);
    out += (i == 0 ? "" : ", ") + text;
    if (finding.sites[i].state == FindingState::kFixed) out += " (fixed)";
  }
  if (finding.sites.size() > most) out += fmt::format(" and {} more", finding.sites.size() - most);
  return out;
}

}  // namespace assay
