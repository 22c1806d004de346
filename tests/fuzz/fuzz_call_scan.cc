// Any bytes through the byte-level scanner: what it reports must lie in the text, in order, and it must end.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "python/call_scan.h"
#include "python/skip_string.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  static const CallScanner scanner({"f", "g", "build", "get_x"});
  std::string_view body = text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
  uint32_t last = 0;
  for (const ScannedCall& c : scanner.scan(text)) {
    ASSAY_CHECK(c.offset >= last && c.end > c.offset && c.end <= body.size(), "calls out of order");
    ASSAY_CHECK(c.line >= 1 && c.positional_before_star <= c.positional, "a call that makes no sense");
    for (std::string_view view : c.keywords) {
      ASSAY_CHECK(view.data() > body.data() + c.offset && view.data() + view.size() <= body.data() + c.end,
                  "a keyword outside of the call");
    }
    if (!c.receiver.empty()) {
      ASSAY_CHECK(c.has_receiver && c.receiver.data() >= body.data() &&
                      c.receiver.data() + c.receiver.size() <= body.data() + c.offset,
                  "a receiver outside of the text");
    }
    last = c.offset + 1;
  }
  size_t quote = body.find_first_of("\"'");
  if (quote == std::string_view::npos) return 0;
  std::vector<CodeRegion> code;
  SkippedString s = skip_string(body, quote, &code);
  ASSAY_CHECK(s.end > quote && s.end <= body.size(), "a string that does not advance");
  size_t at = quote;
  for (const CodeRegion& r : code) {
    ASSAY_CHECK(r.begin >= at && r.end > r.begin && r.end <= s.end, "code regions out of order");
    at = r.end;
  }
  return 0;
}
