"""A recipe for Conan 2 that builds the checkout it is in: conan create CHECKOUT/contrib/conan

docs/install.md says what was checked. Conan Center's zookeeper-client-c is the threaded form of the C client, which
Latchkey cannot use. So the single-threaded one comes from the system: apt-get installs it if Conan may do so
(-c tools.system.package_manager:mode=install), and otherwise Conan says that it is missing.
"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load, rmdir
from conan.tools.system.package_manager import Apt
from conan.errors import ConanInvalidConfiguration

import re

SOURCES = ["CMakeLists.txt", "LICENSE", "CHANGELOG.md", "README.md", "cmake/*", "include/*", "src/*", "recipes/*",
           "cli/*", "docs/*", "examples/*", "contrib/*"]


class Latchkey(ConanFile):
    name = "latchkey"
    description = "Distributed locks and leader election on Apache ZooKeeper"
    license = "Apache-2.0"
    topics = ("zookeeper", "lock", "leader-election")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"
    options = {"command": [True, False]}
    default_options = {"command": True}

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._tree, "CMakeLists.txt"))
        self.version = re.search(r"^project\(latchkey VERSION ([0-9.]+)", text, re.MULTILINE)[1]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, src=self._tree, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Latchkey is for Linux")
        check_min_cppstd(self, 20)

    def requirements(self):
        self.requires("boost/[>=1.74 <2]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("openssl/[>=3.0 <4]")
        if self.options.command:
            self.requires("fmt/[>=9 <12]")
            self.requires("prometheus-cpp/[>=1.0 <2]")
            self.requires("tomlplusplus/[>=3 <4]")

    def system_requirements(self):
        Apt(self).install(["libzookeeper-st-dev"], update=True, check=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["LATCHKEY_BUILD_TESTS"] = False
        toolchain.cache_variables["LATCHKEY_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["LATCHKEY_BUILD_CLI"] = bool(self.options.command)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        # What Latchkey installs for CMake and pkg-config serves, and the targets are the same everywhere.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.set_property("pkg_config_name", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "latchkey")]
        self.cpp_info.libs = ["latchkey"]
