# Which folder may use which. Dependencies point down only; an edge that is not in this table fails configure.
# One line a module: colibri_allow(<module> <modules it may link>).

set(COLIBRI_RULED_MODULES "" CACHE INTERNAL "")

function(colibri_allow module)
  list(APPEND COLIBRI_RULED_MODULES ${module})
  set(COLIBRI_RULED_MODULES "${COLIBRI_RULED_MODULES}" CACHE INTERNAL "")
  set(COLIBRI_ALLOWED_${module} "${ARGN}" CACHE INTERNAL "")
endfunction()

colibri_allow(base)
colibri_allow(telemetry   base)
colibri_allow(text        base)
colibri_allow(checkpoint  base)
colibri_allow(kernels     base)
colibri_allow(image       base checkpoint)
colibri_allow(io          base telemetry)
colibri_allow(store       base telemetry io checkpoint)
colibri_allow(model       base telemetry checkpoint kernels store)
colibri_allow(plan        base telemetry checkpoint model store io)
colibri_allow(session     base telemetry checkpoint kernels store model plan text io image)
colibri_allow(bench       base checkpoint kernels store plan session io)
colibri_allow(cli         base telemetry checkpoint kernels store model plan session text io bench image)
# The app sees the engine through its public headers; `session` implements them.
colibri_allow(app         session)
colibri_allow(qml         app)

define_property(GLOBAL PROPERTY COLIBRI_EDGES BRIEF_DOCS "Edges declared by colibri_module"
  FULL_DOCS "List of from:to pairs")

function(colibri_declare_edges module)
  if(NOT module IN_LIST COLIBRI_RULED_MODULES)
    message(FATAL_ERROR "Module '${module}' has no line in cmake/DependencyRules.cmake")
  endif()
  foreach(to IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY COLIBRI_EDGES "${module}:${to}")
  endforeach()
endfunction()

function(colibri_check_dependency_rules)
  get_property(edges GLOBAL PROPERTY COLIBRI_EDGES)
  foreach(edge IN LISTS edges)
    string(REPLACE ":" ";" pair "${edge}")
    list(GET pair 0 from)
    list(GET pair 1 to)
    if(NOT to IN_LIST COLIBRI_ALLOWED_${from})
      message(FATAL_ERROR "Dependency rule broken: '${from}' may not use '${to}' (cmake/DependencyRules.cmake)")
    endif()
  endforeach()
  # Links made without colibri_module() count too.
  foreach(module IN LISTS COLIBRI_RULED_MODULES)
    if(TARGET colibri_${module})
      get_target_property(links colibri_${module} LINK_LIBRARIES)
      foreach(link IN LISTS links)
        if(link MATCHES "^colibri_([a-z]+)$" AND CMAKE_MATCH_1 IN_LIST COLIBRI_RULED_MODULES
           AND NOT CMAKE_MATCH_1 IN_LIST COLIBRI_ALLOWED_${module})
          message(FATAL_ERROR "Dependency rule broken: '${module}' links '${CMAKE_MATCH_1}' (cmake/DependencyRules.cmake)")
        endif()
      endforeach()
    endif()
  endforeach()
endfunction()
