# SPDX-License-Identifier: Apache-2.0

# tutti_together(TARGET): its sources are compiled several at a time, as suits many small ones. What they keep to
# themselves must differ in name.
function(tutti_together target)
  if(TUTTI_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
    # It takes what a source keeps to itself for a header's.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# tutti_room(NAME [TOGETHER] [LINK targets...]): the library of the room in the current folder, from all its sources.
# TOGETHER: as tutti_together.
function(tutti_room name)
  cmake_parse_arguments(ROOM "TOGETHER" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "main\\.cc$")
  add_library(tutti_${name} STATIC ${sources})
  target_include_directories(tutti_${name} PUBLIC ${CMAKE_SOURCE_DIR}/scheduler ${CMAKE_SOURCE_DIR})
  target_link_libraries(tutti_${name} PUBLIC ${ROOM_LINK})
  if(ROOM_TOGETHER)
    tutti_together(tutti_${name})
  endif()
endfunction()

# tutti_test(NAME [TOGETHER] [LINK targets...]): one ctest binary from all *_test.cc in the current folder.
# TOGETHER: as tutti_together.
function(tutti_test name)
  cmake_parse_arguments(TEST "TOGETHER" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/scheduler ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${TEST_LINK} tutti_test_main)
  if(TEST_TOGETHER)
    tutti_together(${name}_test)
  endif()
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
