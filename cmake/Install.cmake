# What `cmake --install` puts where: the programs into bin/, the demo model where `coli` and the app look for it, licences.
include(GNUInstallDirs)

if(TARGET coli)
  install(TARGETS coli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET colibri)
  install(TARGETS colibri RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY "${CMAKE_SOURCE_DIR}/resources/demo-model/" DESTINATION ${CMAKE_INSTALL_DATADIR}/colibri/demo-model)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/resources/licences/" DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences)
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" "${CMAKE_SOURCE_DIR}/README.md" DESTINATION ${CMAKE_INSTALL_DOCDIR})
