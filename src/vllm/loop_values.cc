#include "vllm/loop_values.h"

#include <algorithm>

namespace assay {

namespace {

constexpr int kDeepest = 60;          // sums and f-strings in one another
constexpr size_t kMostRounds = 2000;  // of all loops around a place together

// The literal that an expression stands for, in the module where it stands.
Term literal_of(Semantics& semantics, const Round& round, Term term) {
  term = resolve_term(round, *term.module, term.node);
  Node e = strip_parens(term.node);
  if (e.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set, Kind::k_dictionary, Kind::k_expression_list))
    return {term.module, e};
  Values values = semantics.infer(*term.module, e);
  const Value* v = values.single();
  if (!v || v->kind != ValueKind::kLiteral) return {};
  return {v->module, v->definition()};
}

void bind_target(Node target, Term item, Round& round) {
  if (target.is(Kind::k_identifier)) {
    round[std::string(target.text())] = item;
    return;
  }
  Node value = strip_parens(item.node);
  if (!value.is_any(Kind::k_tuple, Kind::k_list) || value.child_count() != target.child_count()) return;
  uint32_t i = 0;
  for (Node t : target.children()) bind_target(t, {item.module, value.child_at(i++)}, round);
}

// One loop's rounds on top of what the loops around it bound.
std::vector<Round> loop_rounds(Semantics& semantics, const Module& module, Node target, Node iterable,
                               const Round& base) {
  std::vector<Round> out;
  Node e = strip_parens(iterable);
  std::string_view view;  // of a dictionary
  bool numbered = e.is(Kind::k_call) && e.child(Field::k_function).text() == "enumerate";
  if (numbered) {
    e = e.child(Field::k_arguments).child_at(0);
    target = target.child_at(1);
  }
  bool sorts = e.is(Kind::k_call) &&
               (e.child(Field::k_function).text() == "sorted" || e.child(Field::k_function).text() == "list");
  if (sorts) e = e.child(Field::k_arguments).child_at(0);
  if (e.is(Kind::k_call) && e.child(Field::k_function).is(Kind::k_attribute)) {
    view = e.child(Field::k_function).child(Field::k_attribute).text();
    if (view != "items" && view != "keys" && view != "values") return out;
    e = e.child(Field::k_function).child(Field::k_object);
  }
  if (!e) return out;
  Term literal = literal_of(semantics, base, {&module, e});
  if (!literal) return out;
  for (Node item : literal.node.children()) {
    if (out.size() >= kMostRounds) break;
    Round round = base;
    if (!item.is(Kind::k_pair)) {
      bind_target(target, {literal.module, item}, round);
    } else if (view == "items") {
      bind_target(target.child_at(0), {literal.module, item.child(Field::k_key)}, round);
      bind_target(target.child_at(1), {literal.module, item.child(Field::k_value)}, round);
    } else {
      bind_target(target, {literal.module, item.child(view == "values" ? Field::k_value : Field::k_key)},
                  round);
    }
    out.push_back(std::move(round));
  }
  return out;
}

bool text_at(Semantics& semantics, const Round& round, Term term, std::string& out, int depth);

bool formatted_text(Semantics& semantics, const Round& round, Term term, std::string& out, int depth) {
  Node e = term.node;
  uint32_t at = static_cast<uint32_t>(e.text().find_first_of("'\"")) + e.start() + 1;
  std::string_view source = e.tree()->source();
  std::string text;
  for (Node piece : e.children()) {
    if (!piece.is(Kind::k_interpolation)) return false;
    text += source.substr(at, piece.start() - at);
    std::string value;
    if (!text_at(semantics, round, {term.module, piece.first_child()}, value, depth + 1)) return false;
    text += value;
    at = piece.end();
  }
  text += source.substr(at, e.end() - at - 1);
  out = std::move(text);
  return true;
}

}  // namespace

std::vector<Round> rounds_of(Semantics& semantics, const Module& module, Node place) {
  std::vector<Node> loops;
  for (Node p = place.parent(); p; p = p.parent()) {
    if (p.is_any(Kind::k_function_definition, Kind::k_class_definition)) break;
    if (p.is(Kind::k_for_statement) && p.child(Field::k_body).contains(place)) loops.push_back(p);
    if (p.is_any(Kind::k_list_comprehension, Kind::k_generator_expression, Kind::k_set_comprehension)) {
      if (Node clause = p.child(Kind::k_for_in_clause)) loops.push_back(clause);
    }
  }
  std::vector<Round> rounds{Round()};
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    std::vector<Round> next;
    for (const Round& base : rounds) {
      for (Round& r :
           loop_rounds(semantics, module, loop->child(Field::k_left), loop->child(Field::k_right), base)) {
        if (next.size() < kMostRounds) next.push_back(std::move(r));
      }
    }
    if (!next.empty()) rounds = std::move(next);
  }
  return rounds;
}

Term resolve_term(const Round& round, const Module& module, Node node) {
  Node e = strip_parens(node);
  if (e.is(Kind::k_identifier)) {
    if (auto it = round.find(e.text()); it != round.end()) return it->second;
  }
  return {&module, e};
}

namespace {

bool text_at(Semantics& semantics, const Round& round, Term term, std::string& out, int depth) {
  if (!term || depth > kDeepest) return false;
  term = resolve_term(round, *term.module, term.node);
  Node e = strip_parens(term.node);
  if (string_value(e, out)) return true;
  if (e.is(Kind::k_string) && e.child(Kind::k_interpolation))
    return formatted_text(semantics, round, term, out, depth);
  if (e.is(Kind::k_binary_operator) && e.child(Field::k_operator).text() == "+") {
    std::string left, right;
    if (!text_at(semantics, round, {term.module, e.child(Field::k_left)}, left, depth + 1)) return false;
    if (!text_at(semantics, round, {term.module, e.child(Field::k_right)}, right, depth + 1)) return false;
    out = left + right;
    return true;
  }
  Values values = semantics.infer(*term.module, e);
  const Value* v = values.single();
  if (!v || v->kind != ValueKind::kString) return false;
  out = v->text;
  return true;
}

}  // namespace

bool term_text(Semantics& semantics, const Round& round, Term term, std::string& out) {
  return text_at(semantics, round, term, out, 0);
}

std::vector<std::string> term_texts(Semantics& semantics, const Round& round, Term term) {
  std::string text;
  if (term_text(semantics, round, term, text)) return {text};
  std::vector<std::string> out;
  if (!term) return out;
  Term list = literal_of(semantics, round, term);
  if (!list || list.node.is(Kind::k_dictionary)) {
    if (list) {
      for (Node pair : list.node.children()) {
        if (pair.is(Kind::k_pair) &&
            term_text(semantics, round, {list.module, pair.child(Field::k_key)}, text))
          out.push_back(text);
      }
    }
    return out;
  }
  for (Node item : list.node.children()) {
    if (term_text(semantics, round, {list.module, item}, text)) out.push_back(text);
  }
  return out;
}

}  // namespace assay
