# SPDX-License-Identifier: Apache-2.0

# tutti_prefer_archives(PATTERN): imported libraries whose target's name matches are linked as archives, where there are
# some. The loader of a program does not look for them then: gRPC and what it is made of are 60 shared libraries. Their
# paths are written to the file `archives` of the build, for the list of what is shipped (scripts/package).
function(tutti_prefer_archives pattern)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX ${pattern})
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    if(NOT kind STREQUAL SHARED_LIBRARY OR NOT configurations)
      continue()
    endif()
    foreach(configuration IN LISTS configurations)
      get_target_property(shared ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive ${shared})
      if(EXISTS ${archive})
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
        list(APPEND archives ${archive})
      endif()
    endforeach()
  endforeach()
  list(APPEND archives ${Protobuf_LIBRARY_RELEASE})
  list(JOIN archives "\n" lines)
  file(WRITE ${CMAKE_BINARY_DIR}/archives "${lines}\n")
endfunction()
