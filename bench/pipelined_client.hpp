#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::bench {

/// The C client used as fast as it goes: any number of requests are under way at a time, on the
/// calling thread, which drives the single-threaded form. Throws std::runtime_error for every
/// refusal and for an answer that does not come. All objects belong to one thread.
class pipelined_client {
public:
    /// `server` is "host:port"; returns when there is a session.
    explicit pipelined_client(const std::string& server);
    ~pipelined_client();
    pipelined_client(const pipelined_client&) = delete;
    pipelined_client& operator=(const pipelined_client&) = delete;

    /// Also creates what is above it.
    void create_directory(const std::string& path);

    /// Creates a participant and lists the directory, in one round trip, and returns the path of
    /// the participant. Deletes that were sent before may still be under way.
    [[nodiscard]] std::string join(const std::string& directory);

    /// Sends a delete.
    void start_removing(const std::string& path);

    /// Returns when nothing is under way any more.
    void settle();

    /// Creates and deletes a participant `pairs` times, in the directories that `directory` names
    /// in turn, with `depth` creates under way at a time. As soon as a create is answered, its
    /// delete and the next create are sent. Returns when the last delete has been answered.
    void create_and_delete(std::size_t pairs,
                           std::size_t depth,
                           const std::function<const std::string&(std::size_t)>& directory);

    /// Creates that many persistent znodes, with `depth` creates under way at a time.
    void create_each(std::size_t count,
                     std::size_t depth,
                     const std::function<std::string(std::size_t)>& path);

private:
    class connection;
    std::unique_ptr<connection> connection_;
};

}  // namespace latchkey::bench
