# Turns catalog/*.toml into C++, so that the program carries what it knows. As a script, with -DCATALOG (a folder) and
# -DOUTPUT (a file), it writes the source; included, it adds the step to the library assay_vllm.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files ${CATALOG}/*.toml)
  list(SORT files)
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND rows "    {\"catalog/${name}\", R\"assay_toml(${text})assay_toml\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Made by cmake/EmbedCatalog.cmake from catalog/.
#include \"vllm/embedded_catalog.h\"

namespace assay {

namespace {

constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_catalog() { return kFiles; }

}  // namespace assay
")
  return()
endif()

file(GLOB catalog_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/catalog/*.toml)
set(catalog_source ${CMAKE_BINARY_DIR}/generated/embedded_catalog.cc)
add_custom_command(
  OUTPUT ${catalog_source}
  COMMAND ${CMAKE_COMMAND} -DCATALOG=${CMAKE_SOURCE_DIR}/catalog -DOUTPUT=${catalog_source}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${catalog_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Embedding the catalog"
  VERBATIM)
target_sources(assay_vllm PRIVATE ${catalog_source})
