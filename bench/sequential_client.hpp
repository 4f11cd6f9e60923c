#pragma once

#include <memory>
#include <string>
#include <vector>

namespace latchkey::bench {

/// What a careful programmer writes over the C client: the lock recipe of ZooKeeper's
/// documentation, one request at a time, each answer awaited before the next request is made.
///
/// The single-threaded C client runs on the calling thread, so that nothing is handed over between
/// threads; the address is numeric and never looked up again. Throws std::runtime_error for every
/// refusal and for an answer that does not come. All objects belong to one thread.
class sequential_client {
public:
    /// `server` is "host:port"; returns when there is a session.
    explicit sequential_client(const std::string& server);
    ~sequential_client();
    sequential_client(const sequential_client&) = delete;
    sequential_client& operator=(const sequential_client&) = delete;

    // One request and one round trip each.

    void create_directory(const std::string& path);
    /// Returns the path of the participant.
    [[nodiscard]] std::string create_participant(const std::string& directory);
    /// In order of their sequence numbers.
    [[nodiscard]] std::vector<std::string> participants(const std::string& directory);
    void watch(const std::string& path);
    void remove(const std::string& path);

    // The two sides of a hand-over.

    void start_removing(const std::string& path);
    void finish_removing();
    /// Works both until the znode that `waiting` watches is gone.
    static void work_until_woken(sequential_client& leaving, sequential_client& waiting);

private:
    class connection;
    std::unique_ptr<connection> connection_;
};

}  // namespace latchkey::bench
