# Turns python/assay_worker/*.py and catalog/runtime/*.toml into C++, so that the worker and what it is asked are there wherever the
# program runs. As a script, with -DWORKER and -DQUESTIONS (folders) and -DOUTPUT (a file), it writes the source; included, it adds
# the step to the library assay_runtime.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files ${WORKER}/*.py)
  list(SORT files)
  set(rows "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    # A compiler need not take a longer string than 64 kB.
    string(LENGTH "${text}" length)
    if(length GREATER 60000)
      message(FATAL_ERROR "${file} is too long to be embedded as one string")
    endif()
    string(APPEND rows "    {\"${name}\", R\"assay_py(${text})assay_py\"},\n")
  endforeach()
  file(GLOB files ${QUESTIONS}/*.toml)
  list(SORT files)
  set(questions "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND questions "    {\"${name}\", R\"assay_toml(${text})assay_toml\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Made by cmake/EmbedWorker.cmake from python/assay_worker/ and catalog/runtime/.
#include \"runtime/worker_sources.h\"

namespace assay {

namespace {

constexpr WorkerSource kSources[] = {
${rows}};
constexpr WorkerSource kQuestions[] = {
${questions}};

}  // namespace

std::span<const WorkerSource> worker_sources() { return kSources; }
std::span<const WorkerSource> runtime_catalog() { return kQuestions; }

}  // namespace assay
")
  return()
endif()

file(GLOB worker_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/assay_worker/*.py ${CMAKE_SOURCE_DIR}/catalog/runtime/*.toml)
set(worker_source ${CMAKE_BINARY_DIR}/generated/worker_sources.cc)
add_custom_command(
  OUTPUT ${worker_source}
  COMMAND ${CMAKE_COMMAND} -DWORKER=${CMAKE_SOURCE_DIR}/python/assay_worker
          -DQUESTIONS=${CMAKE_SOURCE_DIR}/catalog/runtime -DOUTPUT=${worker_source}
          -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${worker_files} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Embedding the worker"
  VERBATIM)
target_sources(assay_runtime PRIVATE ${worker_source})
