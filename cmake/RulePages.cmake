# Turns the pages of docs/rules/ into C++, so that `assay explain` has them wherever it runs. As a script, with
# -DPAGES (a folder) and -DOUTPUT (a file), it writes the source; included, it adds the step to the target `assay`.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB pages ${PAGES}/*.md)
  list(SORT pages)
  set(rows "")
  foreach(page IN LISTS pages)
    get_filename_component(rule ${page} NAME_WE)
    file(READ ${page} text)
    string(APPEND rows "    {\"${rule}\", R\"assay_page(${text})assay_page\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Made by cmake/RulePages.cmake from docs/rules/.
#include \"cli/rule_pages.h\"

namespace assay {

namespace {

// The last row only keeps the array from being empty.
constexpr RulePage kPages[] = {
${rows}    {},
};

}  // namespace

std::span<const RulePage> rule_pages() { return std::span(kPages).first(std::size(kPages) - 1); }

}  // namespace assay
")
  return()
endif()

file(GLOB rule_pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/rules/*.md)
set(rule_pages_source ${CMAKE_BINARY_DIR}/generated/rule_pages.cc)
add_custom_command(
  OUTPUT ${rule_pages_source}
  COMMAND ${CMAKE_COMMAND} -DPAGES=${CMAKE_SOURCE_DIR}/docs/rules -DOUTPUT=${rule_pages_source}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${rule_pages} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Embedding the pages of the rules"
  VERBATIM)
target_sources(assay PRIVATE ${rule_pages_source})
