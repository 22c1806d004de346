#include <string>

#include "python/syntax_check_parts.h"

namespace assay::syntax_check {
namespace {

enum class Place : uint8_t { kModule, kClass, kFunction, kLambda, kComprehension };

// What holds for the nodes up to `end`.
struct Frame {
  NodeId end;
  Place place;
  bool is_async = false;
  bool in_loop = false;
  bool in_iterable = false;  // of a comprehension
  bool break_leaves_except_group = false, return_leaves_except_group = false;
  size_t function = 0;            // index into functions_
  Place around = Place::kModule;  // for a comprehension: what it stands in, other comprehensions aside
  Node comprehension = {};
};

struct Function {
  bool is_async = false, has_yield = false;
  Node value_return;
};

bool is_comprehension(Node node) {
  return node.is_any(Kind::k_list_comprehension, Kind::k_set_comprehension, Kind::k_dictionary_comprehension,
                     Kind::k_generator_expression);
}

// The first iterable of a comprehension belongs to the scope around it.
bool is_first_iterable(Node node) {
  Node clause = node.parent();
  return node.field() == Field::k_right && clause.is(Kind::k_for_in_clause) &&
         is_comprehension(clause.parent()) && clause.parent().child(Kind::k_for_in_clause) == clause &&
         clause.child(Field::k_right) == node;
}

// `yield from x`
bool is_yield_from(Node yield) {
  std::string_view rest = yield.text().substr(5);
  size_t i = rest.find_first_not_of(" \t\\\r\n");
  return i != std::string_view::npos && i > 0 && rest.substr(i, 4) == "from" &&
         (rest.size() == i + 4 ||
          std::string_view(" \t([{\\\"'").find(rest[i + 4]) != std::string_view::npos);
}

class FlowChecker {
 public:
  FlowChecker(const SyntaxTree& tree, ErrorList& errors) : tree_(tree), errors_(errors) {}

  void run() {
    NodeId count = static_cast<NodeId>(tree_.nodes().size());
    functions_.emplace_back();
    frames_.push_back({count, Place::kModule});
    for (NodeId id = 1; id < count; ++id) {
      while (frames_.back().end <= id) frames_.pop_back();
      Node node = tree_.at(id);
      enter(node);
      check(node);
    }
    for (const Function& f : functions_) {
      if (f.is_async && f.has_yield && f.value_return) {
        errors_.add(f.value_return, "'return' with value in async generator");
      }
    }
  }

 private:
  void enter(Node node) {
    Kind parent = node.parent().kind();
    if (node.field() == Field::k_body) {
      if (parent == Kind::k_function_definition || parent == Kind::k_lambda) {
        enter_function(node);
      } else if (parent == Kind::k_class_definition) {
        frames_.push_back({node.subtree_end(), Place::kClass});
      } else if (parent == Kind::k_for_statement || parent == Kind::k_while_statement) {
        Frame& loop = push_copy(node);
        loop.in_loop = true;
        loop.break_leaves_except_group = false;
      }
    } else if (is_except_group(node)) {
      Frame& clause = push_copy(node);
      clause.break_leaves_except_group = clause.return_leaves_except_group = true;
    } else if (node.field() == Field::k_right && parent == Kind::k_for_in_clause) {
      enter_iterable(node);
    }
    if (is_comprehension(node)) {
      Frame& frame = push_copy(node);
      if (frame.place != Place::kComprehension) frame.around = frame.place;
      frame.place = Place::kComprehension;
      frame.comprehension = node;
    }
  }

  void enter_function(Node body) {
    Node definition = body.parent();
    Frame frame{body.subtree_end(), definition.is(Kind::k_lambda) ? Place::kLambda : Place::kFunction};
    frame.is_async = definition.first_child().is(Kind::kAsync);
    frame.function = functions_.size();
    functions_.push_back({frame.is_async, false, Node()});
    frames_.push_back(frame);
  }

  void enter_iterable(Node node) {
    Frame frame =
        frames_[is_first_iterable(node) && frames_.size() > 1 ? frames_.size() - 2 : frames_.size() - 1];
    frame.end = node.subtree_end();
    frame.in_iterable = true;
    frames_.push_back(frame);
  }

  Frame& push_copy(Node node) {
    Frame frame = frames_.back();
    frame.end = node.subtree_end();
    frames_.push_back(frame);
    return frames_.back();
  }

  void check(Node node) {
    switch (node.kind()) {
      case Kind::k_return_statement:
        check_return(node);
        break;
      case Kind::k_yield:
        check_yield(node);
        break;
      case Kind::k_await:
        check_await(node);
        break;
      case Kind::k_break_statement:
      case Kind::k_continue_statement:
        check_loop_exit(node);
        break;
      case Kind::k_wildcard_import:
        if (frames_.back().place != Place::kModule)
          errors_.add(node.parent(), "import * only allowed at module level");
        break;
      case Kind::kAsync:
        check_async(node);
        break;
      case Kind::k_named_expression:
        check_walrus_in_comprehension(node);
        break;
      default:
        break;
    }
  }

  void check_return(Node node) {
    const Frame& frame = frames_.back();
    if (frame.place != Place::kFunction) {
      errors_.add(node, "'return' outside function");
    } else if (frame.return_leaves_except_group) {
      errors_.add(node, "'return' cannot appear in an except* block");
    } else if (node.first_child()) {
      functions_[frame.function].value_return = node;
    }
  }

  void check_yield(Node node) {
    const Frame& frame = frames_.back();
    if (frame.place == Place::kComprehension) {
      errors_.add(node, "'yield' inside a comprehension");
    } else if (frame.place == Place::kModule || frame.place == Place::kClass) {
      errors_.add(node, "'yield' outside function");
    } else if (frame.is_async && is_yield_from(node)) {
      errors_.add(node, "'yield from' inside async function");
    } else {
      functions_[frame.function].has_yield = true;
    }
  }

  void check_await(Node node) {
    const Frame& frame = frames_.back();
    if (frame.place == Place::kComprehension) {
      check_async_comprehension(node);
    } else if (frame.place == Place::kModule || frame.place == Place::kClass) {
      errors_.add(node, "'await' outside function");
    } else if (!frame.is_async) {
      errors_.add(node, "'await' outside async function");
    }
  }

  // Generator expressions may be asynchronous anywhere; comprehensions in comprehensions since 3.11.
  void check_async_comprehension(Node node) {
    const Frame& frame = frames_.back();
    if (frame.comprehension.is(Kind::k_generator_expression)) return;
    for (size_t i = frames_.size() - 1; i > 0 && frames_[i].place == Place::kComprehension; --i) {
      if (!(frames_[i].comprehension == frame.comprehension)) return;
    }
    if (!frame.is_async) errors_.add(node, "asynchronous comprehension outside of an asynchronous function");
  }

  void check_async(Node node) {
    Node statement = node.parent();
    const Frame& frame = frames_.back();
    if (statement.is(Kind::k_for_in_clause)) {
      if (frame.place == Place::kComprehension) check_async_comprehension(node);
    } else if (statement.is_any(Kind::k_with_statement, Kind::k_for_statement)) {
      if (frame.place == Place::kFunction && frame.is_async) return;
      errors_.add(node, statement.is(Kind::k_with_statement) ? "'async with' outside async function"
                                                             : "'async for' outside async function");
    }
  }

  void check_loop_exit(Node node) {
    const Frame& frame = frames_.back();
    bool is_break = node.is(Kind::k_break_statement);
    if (!frame.in_loop) {
      errors_.add(node, is_break ? "'break' outside loop" : "'continue' not properly in loop");
    } else if (frame.break_leaves_except_group) {
      errors_.add(node, "'break' and 'continue' cannot appear in an except* block");
    }
  }

  void check_walrus_in_comprehension(Node node) {
    if (frames_.back().in_iterable) {
      errors_.add(node, "assignment expression cannot be used in a comprehension iterable expression");
    }
    if (frames_.back().place != Place::kComprehension) return;
    if (frames_.back().around == Place::kClass) {
      errors_.add(node, "assignment expression within a comprehension cannot be used in a class body");
    }
    Node comprehension = frames_.back().comprehension;
    for (Node clause : comprehension.children()) {
      if (clause.is(Kind::k_for_in_clause) &&
          clause.child(Field::k_left).text() == node.child(Field::k_name).text()) {
        errors_.add(node, "assignment expression cannot rebind a comprehension iteration variable");
      }
    }
  }

  const SyntaxTree& tree_;
  ErrorList& errors_;
  std::vector<Frame> frames_;
  std::vector<Function> functions_;
};

}  // namespace

void check_flow(const SyntaxTree& tree, ErrorList& errors) {
  if (tree.root()) FlowChecker(tree, errors).run();
}

}  // namespace assay::syntax_check
