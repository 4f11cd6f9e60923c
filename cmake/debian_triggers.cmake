# Run by CPack when the packages are made. For a library CPack writes scripts that call ldconfig; dpkg has a trigger for
# that, which runs it once for all packages.
find_program(dpkg_deb dpkg-deb REQUIRED)
foreach(package IN LISTS CPACK_PACKAGE_FILES)
    set(root "${CPACK_TEMPORARY_DIRECTORY}/unpacked")
    file(REMOVE_RECURSE "${root}")
    execute_process(COMMAND "${dpkg_deb}" --raw-extract "${package}" "${root}" COMMAND_ERROR_IS_FATAL ANY)
    if(EXISTS "${root}/DEBIAN/shlibs")
        file(REMOVE "${root}/DEBIAN/postinst" "${root}/DEBIAN/postrm")
        file(WRITE "${root}/DEBIAN/triggers" "activate-noawait ldconfig\n")
    endif()
    execute_process(COMMAND "${dpkg_deb}" --root-owner-group --build "${root}" "${package}"
        OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE "${root}")
endforeach()
