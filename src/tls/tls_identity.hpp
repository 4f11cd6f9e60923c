#pragma once

#include <latchkey/tls.hpp>

#include "loop/loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// OpenSSL's own name, so that its headers stay in this folder.
struct ssl_ctx_st;

namespace latchkey::inline v0 {

/// What a client presents to servers and whom it trusts: the files of tls_options, read. They are
/// read again when they have changed.
class tls_identity : public std::enable_shared_from_this<tls_identity> {
public:
    /// Reads the files, on any thread. It is used on `l` then. Throws errc::invalid_argument; the
    /// message names the file and the remedy.
    tls_identity(const std::shared_ptr<loop>& l, const tls_options& options);
    tls_identity(const tls_identity&) = delete;
    tls_identity& operator=(const tls_identity&) = delete;

    [[nodiscard]] const tls_options& options() const noexcept { return options_; }

    /// What was read last. On the loop only.
    [[nodiscard]] const std::shared_ptr<ssl_ctx_st>& context() const noexcept { return context_; }

    /// Why what was read last is older than the files; empty if it is not. On the loop only.
    [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

    /// Looks whether the files have changed, on a thread of its own, and reads them if so. Then
    /// calls `done` on the loop, unless the loop is gone. On the loop only.
    void refresh(std::function<void()> done);

    /// Calls `done` when the look that is under way has ended; at once if there is none. On the
    /// loop only.
    void when_refreshed(std::function<void()> done);

private:
    /// Shows whether a file is still the one that was read.
    struct mark {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::int64_t size = -1;
        std::int64_t modified = 0;
        std::int64_t changed = 0;
        bool operator==(const mark&) const = default;
    };

    struct reading {
        std::shared_ptr<ssl_ctx_st> context;  ///< null: nothing has changed, or it failed
        std::vector<mark> marks;
        std::string problem;
    };

    [[nodiscard]] std::vector<mark> marks() const;
    [[nodiscard]] reading look(const std::vector<mark>& known) const;
    void take(reading now);

    std::weak_ptr<loop> loop_;
    const tls_options options_;
    std::vector<mark> marks_;
    std::shared_ptr<ssl_ctx_st> context_;
    std::string warning_;
    std::vector<std::function<void()>> waiting_;  ///< for the look that is under way
};

}  // namespace latchkey::inline v0
