#pragma once

#include <latchkey/client.hpp>

#include "uncopied.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::test {

/// Where a suite of behaviour runs: the in-process ensemble, or real servers. What holds in one
/// must hold in the other.
class world : public uncopied {
public:
    [[nodiscard]] virtual client connect(client_options options, const std::string& chroot) = 0;

    [[nodiscard]] client connect(client_options options = {}) {
        return connect(std::move(options), {});
    }

    /// The servers end the session, as if it had timed out.
    virtual void expire(std::int64_t session) = 0;

    /// A path that no other test uses; nothing is created.
    [[nodiscard]] virtual std::string fresh_path() = 0;

    /// Whether its servers are like 3.8.4, 3.9.2 and newer in this.
    [[nodiscard]] virtual bool exists_needs_read() const = 0;

    // What an operator does by hand, through a client of its own. They throw latchkey::error.
    std::string create(const std::string& path, const std::string& data = {});
    void remove(const std::string& path);
    void set(const std::string& path, const std::string& data);
    [[nodiscard]] std::optional<std::string> get(const std::string& path);
    /// Sorted; empty if the directory is not there.
    [[nodiscard]] std::vector<std::string> children(const std::string& path);

private:
    client& hand();

    std::unique_ptr<client> operator_;
};

enum class world_kind { in_process, real };

/// A world of that kind; a real one is the ensemble that the test programs share.
[[nodiscard]] std::unique_ptr<world> make_world(world_kind k);
[[nodiscard]] std::string name_of_world(world_kind k);

/// Lets a client, whose server may be behind, see all that the test has seen. It writes: that comes
/// behind all else in the log. A `sync` is answered by a leader like a read, before what the
/// followers have applied already.
void catch_up(const client& c);

/// Ends a session of real servers from outside. Any client can: the password is computed from the
/// session's id (ZooKeeper's sessions are safe only from clients that cannot reach the client
/// port).
void end_session(const std::string& host_and_port, std::int64_t session);

}  // namespace latchkey::test
