// unresolved-class-path: dotted paths in strings.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

bool is_identifier_path(std::string_view s) {
  bool start = true, dotted = false;
  for (char c : s) {
    if (c == '.' || c == ':') {
      if (start) return false;
      start = dotted = true;
      continue;
    }
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(c >= '0' && c <= '9' && !start)) return false;
    start = false;
  }
  return dotted && !start;
}

// A string that names a thing to be loaded: it starts with a package of ours, and its last part or the place it
// stands in says that it is a class or function rather than a module, a logger or a file.
bool looks_like_class_path(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return true;
  std::string_view last = text.substr(text.rfind('.') + 1);
  return !last.empty() && last[0] >= 'A' && last[0] <= 'Z' && std::any_of(last.begin(), last.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// The longest part of the path that is a module has nothing of the next name. (A path may go through a class as well.)
bool certainly_missing(RuleContext& ctx, const std::string& dotted) {
  size_t end = dotted.size();
  const Module* prefix = nullptr;
  while (!prefix && (end = dotted.rfind('.', end - 1)) != std::string::npos && end > 0) prefix = ctx.project().find_loaded(dotted.substr(0, end));
  if (!prefix) return ctx.project().find(dotted) == nullptr;
  std::string_view rest = std::string_view(dotted).substr(end + 1);
  return ctx.sem.module_member(*prefix, rest.substr(0, rest.find('.'))).presence == Presence::kNo;
}

void check_string(RuleContext& ctx, const Module& module, Node n) {
  std::string text;
  if (n.parent().is(Kind::k_expression_statement) || !string_value(n, text) || text.size() > 300) return;
  if (!is_identifier_path(text) || !ctx.project().owns(text) || !looks_like_class_path(text)) return;
  size_t colon = text.find(':');
  std::string module_part = colon != std::string::npos ? text.substr(0, colon) : text.substr(0, text.rfind('.'));
  std::string rest = text.substr(module_part.size() + 1);
  const Module* found = ctx.project().find_loaded(module_part);
  std::string message;
  const Module* holder = nullptr;
  if (!found) {
    if (!certainly_missing(ctx, module_part)) return;
    message = "the string '" + text + "' names the module " + module_part + ", which does not exist";
  } else {
    std::string first = rest.substr(0, rest.find('.'));
    Member member = ctx.sem.module_member(*found, first);
    if (member.presence != Presence::kNo) return;
    message = "the string '" + text + "' names '" + first + "', which " + found->name + " does not have";
    holder = found;
  }
  Finding* f = report(ctx, "unresolved-class-path", module, n, text, message);
  if (!f) return;
  f->observed = message;
  if (holder) relate(*f, *holder, Node(), holder->name, "looked for here");
  f->group = "unresolved-class-path:" + text;
}

}  // namespace

void check_class_paths(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_string)) check_string(ctx, module, n);
  }
}

}  // namespace assay
