# Read by each project of llama.cpp before it names what it builds: only the arithmetic has to be fast, and the rest takes
# half of the time to build without being made so.
if(PROJECT_NAME STREQUAL "ggml")
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
  # A processor may have AMX where the system gives no program its tiles, in virtual machines above all: the engine would
  # be killed at its first multiplication.
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-mno-amx-tile KNOWS_AMX)
  if(KNOWS_AMX)
    add_compile_options(-mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
  endif()
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  # A hundred kinds of models have a file each, and all read the same headers.
  cmake_language(DEFER CALL set_target_properties llama mtmd PROPERTIES UNITY_BUILD ON)
  # These refuse to be read with the others.
  set(mtmd ${CMAKE_CURRENT_SOURCE_DIR}/tools/mtmd)
  cmake_language(DEFER CALL set_source_files_properties ${mtmd}/mtmd-helper.cpp ${mtmd}/mtmd-helper-gen.cpp
    TARGET_DIRECTORY mtmd PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
