# `cmake --install`: headers, libraries, the program, and a package that another project finds with find_package(Scantling).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Scantling)
set(targets scantling_base)
foreach(target scantling scantling_cli)
  if(TARGET ${target})
    list(APPEND targets ${target})
  endif()
endforeach()
install(TARGETS ${targets} EXPORT ScantlingTargets)
install(EXPORT ScantlingTargets NAMESPACE Scantling:: DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scantling DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/ScantlingConfig.cmake.in ScantlingConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(ScantlingConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ScantlingConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ScantlingConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake DESTINATION ${package_folder})
