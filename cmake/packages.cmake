# Debian packages of what is installed: `cpack` in the build folder, or scripts/packages. One component, one package.
set(LATCHKEY_PACKAGE_VERSION "${PROJECT_VERSION}" CACHE STRING "Version of the Debian packages, without the revision")
set(LATCHKEY_PACKAGE_DATE "" CACHE STRING "Date of the packages' changelog, as `date -R` prints it")
set(LATCHKEY_MAINTAINER "Latchkey maintainers <maintainers@latchkey.invalid>" CACHE STRING
    "Who is responsible for the Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "Latchkey")
set(CPACK_PACKAGE_CONTACT "${LATCHKEY_MAINTAINER}")
# CPack's own default. Any other would be the first line of every package's description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_OUTPUT_FILE_PREFIX "${PROJECT_BINARY_DIR}/packages")
set(CPACK_COMPONENTS_ALL library library_dev testing testing_dev doc)
if(LATCHKEY_BUILD_CLI)
    list(APPEND CPACK_COMPONENTS_ALL command)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION "${LATCHKEY_PACKAGE_VERSION}")
# A package of Debian's own, revision 1, replaces it.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~0)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
# Copyright, changelogs, compressed manual pages: what Debian wants and an installation elsewhere does not.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian_triggers.cmake")
set(CPACK_LATCHKEY_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_LATCHKEY_DATE "${LATCHKEY_PACKAGE_DATE}")
set(CPACK_LATCHKEY_SONAME_VERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

set(_version "${LATCHKEY_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
set(_library "liblatchkey${CPACK_LATCHKEY_SONAME_VERSION}")
set(_testing "liblatchkey-testing${CPACK_LATCHKEY_SONAME_VERSION}")
# A build for /usr on Debian, as scripts/packages makes, has a folder of its own for each architecture.
if(CMAKE_INSTALL_LIBDIR MATCHES "^lib/.")
    set(_multiarch same)
endif()

# latchkey_package(<component> <name> <section> <first line> <further lines> [DEPENDS <text>] [SUGGESTS <text>]
#                  [MULTIARCH <value>] [ANY_ARCHITECTURE])
macro(latchkey_package component name section first further)
    cmake_parse_arguments(arg "ANY_ARCHITECTURE" "DEPENDS;SUGGESTS;MULTIARCH" "" ${ARGN})
    string(TOUPPER ${component} _component)
    set(CPACK_DEBIAN_${_component}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${_component}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${_component}_DESCRIPTION "${first}\n${further}")
    set(CPACK_DEBIAN_${_component}_PACKAGE_DEPENDS "${arg_DEPENDS}")
    set(CPACK_DEBIAN_${_component}_PACKAGE_SUGGESTS "${arg_SUGGESTS}")
    set(CPACK_DEBIAN_${_component}_PACKAGE_MULTIARCH "${arg_MULTIARCH}")
    if(arg_ANY_ARCHITECTURE)
        set(CPACK_DEBIAN_${_component}_PACKAGE_ARCHITECTURE all)
        set(CPACK_DEBIAN_${_component}_PACKAGE_SHLIBDEPS OFF)
    else()
        set(CPACK_DEBIAN_${_component}_PACKAGE_SHLIBDEPS ON)
    endif()
endmacro()

set(_what "Latchkey has distributed locks and leader election on Apache ZooKeeper.
A holder or leader always knows until when its lock or leadership is
guaranteed. The znodes are those of Apache Curator.
.
")
latchkey_package(library ${_library} libs "distributed locks and leader election on ZooKeeper - library"
    "${_what}This package has the shared library. It contains the ZooKeeper C client." MULTIARCH "${_multiarch}")
latchkey_package(library_dev liblatchkey-dev libdevel "distributed locks and leader election on ZooKeeper - development"
    "${_what}This package has the headers, the files for CMake and pkg-config, and the
static library. Programs that link the static library need the suggested
packages too."
    DEPENDS "${_library} (= ${_version})"
    SUGGESTS "latchkey-doc, libboost-chrono-dev, libboost-thread-dev, libssl-dev, libzookeeper-st-dev" MULTIARCH "${_multiarch}")
latchkey_package(testing ${_testing} libs "in-process ZooKeeper ensemble for tests - library"
    "${_what}This package has the shared library of the in-process ensemble. It is for
tests, and never part of a program in production."
    DEPENDS "${_library} (= ${_version})" MULTIARCH "${_multiarch}")
latchkey_package(testing_dev liblatchkey-testing-dev libdevel "in-process ZooKeeper ensemble for tests - development"
    "${_what}This package has what tests need to run on an ensemble in their own process,
with faults and a clock on demand."
    DEPENDS "${_testing} (= ${_version}), liblatchkey-dev (= ${_version})" MULTIARCH "${_multiarch}")
latchkey_package(command latchkey admin "distributed locks and leader election on ZooKeeper - command"
    "${_what}This package has the command. It runs programs while holding a lock, or on
the leader alone, and ends them before another client can get the lock."
    SUGGESTS "bash-completion, latchkey-doc")
latchkey_package(doc latchkey-doc doc "distributed locks and leader election on ZooKeeper - documents"
    "${_what}This package has the guide, the pages about operation and guarantees, and the
examples." ANY_ARCHITECTURE MULTIARCH foreign)

include(CPack)
