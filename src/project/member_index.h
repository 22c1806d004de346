// What the text of all trees says about definitions, classes and attributes: who defines a name at the top level, who
// names whom as a base, and which attribute names are stored on objects, defined in class bodies or spelled in setattr. Read from the bytes, line by line, without parsing;
// made on first use. It errs towards "there is one": rules ask it before they say that nobody sets an attribute.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/once.h"
#include "project/project.h"

namespace assay {

struct DefinitionPlace {
  const Module* module;
  uint32_t line;
};

struct ClassPlace {
  const Module* module;
  uint32_t line;
  std::string_view name;  // as written behind `class`
};

class MemberIndex {
 public:
  MemberIndex(const Project& project, int threads) : project_(project), threads_(threads) {}

  // Reads all texts now; else the first question does.
  void ensure() const { built_.run([this] { build(); }); }

  enum Flag : uint8_t {
    kStoredOnSelf = 1,   // self.name = …, cls.name = …
    kStoredOnOther = 2,  // x.name = …, setattr(x, "name", …), or spelled in a file that calls setattr with computed names
    kInClassBody = 4,    // `def name`, `name: T`, `name = …` in an indented line
  };
  // Flags of the name over all trees; 0: no text defines such an attribute.
  uint8_t flags(std::string_view name) const;
  // The modules with stores on objects that are not self.
  std::vector<const Module*> stored_on_other(std::string_view name) const;

  // Top-level `class NAME`, `def NAME` and `NAME = …` of the tree, in order of files.
  std::vector<DefinitionPlace> definitions(const SourceTree& tree, std::string_view name) const;

  // Classes that name a class of this (simple) name as a base, and their subclasses, by names alone: may be too many, never
  // too few, except for classes made by calls.
  std::vector<ClassPlace> subclasses(std::string_view simple_name) const;

 private:
  struct FileFacts;
  void build() const;
  const Project& project_;
  int threads_;
  mutable Once built_;
  // Names are pieces of the texts, which the project keeps.
  mutable std::unordered_map<std::string_view, uint8_t> flags_;
  mutable std::unordered_map<std::string_view, std::vector<const Module*>> others_;
  mutable std::unordered_map<std::string_view, std::vector<DefinitionPlace>> definitions_;
  mutable std::unordered_map<std::string_view, std::vector<ClassPlace>> by_base_;
  mutable std::unordered_map<std::string_view, std::vector<std::string_view>> aliases_;  // of a class name
};

}  // namespace assay
