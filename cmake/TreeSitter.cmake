# tree-sitter core and its Python grammar. Debian's runtime is too old for the grammar's headers, so both come
# from their source archives; pip checks the hashes pinned in third_party/tree-sitter.txt.
set(ts_dir ${CMAKE_SOURCE_DIR}/build/third_party)
set(ts_core ${ts_dir}/tree-sitter-0.23.2/tree_sitter/core/lib)
set(ts_python ${ts_dir}/tree_sitter_python-0.23.6)
file(LOCK ${ts_dir}/.lock GUARD FILE TIMEOUT 300)
if(NOT EXISTS ${ts_core}/src/lib.c OR NOT EXISTS ${ts_python}/src/parser.c)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  message(STATUS "Fetching the pinned tree-sitter sources")
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -m pip download -q --disable-pip-version-check --no-deps --no-binary=:all:
            --require-hashes -r ${CMAKE_SOURCE_DIR}/third_party/tree-sitter.txt -d ${ts_dir}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "could not fetch the tree-sitter source archives with pip")
  endif()
  foreach(archive tree-sitter-0.23.2 tree_sitter_python-0.23.6)
    file(ARCHIVE_EXTRACT INPUT ${ts_dir}/${archive}.tar.gz DESTINATION ${ts_dir})
  endforeach()
endif()

# The grammar includes "tree_sitter/parser.h": the core's own headers, seen under that name.
file(MAKE_DIRECTORY ${ts_dir}/include)
if(NOT EXISTS ${ts_dir}/include/tree_sitter)
  file(CREATE_LINK ${ts_core}/src ${ts_dir}/include/tree_sitter SYMBOLIC)
endif()

add_library(tree_sitter STATIC ${ts_core}/src/lib.c ${ts_python}/src/parser.c ${ts_python}/src/scanner.c)
target_include_directories(tree_sitter SYSTEM PUBLIC ${ts_core}/include PRIVATE ${ts_core}/src ${ts_dir}/include)
target_compile_options(tree_sitter PRIVATE -w -O2)
set_target_properties(tree_sitter PROPERTIES C_STANDARD 11)
