#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace latchkey::test {

/// A certificate and its key, both as PEM.
struct test_certificate {
    std::string certificate;
    std::string key;

    [[nodiscard]] std::string together() const { return key + certificate; }
};

/// An authority that signs certificates while a test runs. Keys are short, to be made quickly.
class test_authority {
public:
    struct wish {
        std::string subject = "server";
        /// As subjectAltName is written; empty: none.
        std::string names = "DNS:localhost,IP:127.0.0.1";
        std::chrono::seconds from = -std::chrono::hours(1);  ///< from now
        std::chrono::seconds until = std::chrono::hours(24);
        std::string purpose = {};  ///< "serverAuth", "clientAuth"; empty: any
    };

    explicit test_authority(const std::string& name = "authority");

    /// Its own certificate, as PEM.
    [[nodiscard]] const std::string& certificate() const noexcept { return own_.certificate; }

    [[nodiscard]] test_certificate issue(const wish& what) const;

    [[nodiscard]] test_certificate issue() const { return issue(wish()); }

private:
    std::string name_;
    test_certificate own_;
};

/// A folder of files, which ends with it.
class test_folder {
public:
    test_folder();
    ~test_folder();
    test_folder(const test_folder&) = delete;
    test_folder& operator=(const test_folder&) = delete;

    /// Replaces the file at once, as tools that renew certificates do; returns its name.
    std::string write(const std::string& name, const std::string& text) const;

    [[nodiscard]] std::string path(const std::string& name) const { return path_ / name; }

private:
    std::filesystem::path path_;
};

}  // namespace latchkey::test
