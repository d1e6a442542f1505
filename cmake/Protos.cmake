# SPDX-License-Identifier: Apache-2.0

# tutti_protos(TARGET [MESSAGES] [SERVICES] FROM folder FILES pattern LINK targets...): the library of what protoc makes
# from the .proto files that match the pattern below the folder: their messages, their gRPC services, or both.
function(tutti_protos target)
  cmake_parse_arguments(PROTOS "MESSAGES;SERVICES" "FROM;FILES" "LINK" ${ARGN})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/made)
  file(MAKE_DIRECTORY ${made})
  if(PROTOS_MESSAGES)
    list(APPEND endings pb)
    list(APPEND makes --cpp_out=${made})
  endif()
  if(PROTOS_SERVICES)
    list(APPEND endings grpc.pb)
    list(APPEND makes --grpc_out=${made} --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>)
  endif()
  file(GLOB protos RELATIVE ${PROTOS_FROM} CONFIGURE_DEPENDS ${PROTOS_FROM}/${PROTOS_FILES})
  foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" "" stem ${proto})
    list(TRANSFORM endings PREPEND ${made}/${stem}. OUTPUT_VARIABLE stems)
    list(TRANSFORM stems APPEND .cc OUTPUT_VARIABLE of_proto)
    list(TRANSFORM stems APPEND .h OUTPUT_VARIABLE headers)
    add_custom_command(
      OUTPUT ${of_proto} ${headers}
      COMMAND protobuf::protoc -I ${PROTOS_FROM} ${makes} ${PROTOS_FROM}/${proto}
      DEPENDS ${PROTOS_FROM}/${proto}
      VERBATIM)
    list(APPEND sources ${of_proto})
  endforeach()
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} SYSTEM PUBLIC ${made})
  target_link_libraries(${target} PUBLIC ${PROTOS_LINK})
  target_compile_options(${target} PRIVATE -w)
  if(PROTOS_SERVICES)  # they hold little but templates of the library, which are then read once
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${TUTTI_UNITY})
  endif()
endfunction()
