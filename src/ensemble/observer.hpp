#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/server/transaction.hpp"
#include "ensemble/virtual/fault_plan.hpp"

#include <cstdint>
#include <string>

namespace latchkey::model {

struct client_process;

/// Sees everything that happens inside the ensemble. Called on the loop, in the middle of a
/// server's work. Anything that an observer wants to do, except what received() returns, it must do
/// in an event of its own.
class observer {
public:
    observer() = default;
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    /// A client has opened a session, or has resumed one.
    virtual void opened(std::int64_t session, const client_process& by) = 0;

    /// A server has received a request, or the close request of a session, and has not acted on it
    /// yet. Returns the fault that the request is to have.
    virtual fault_plan::verdict received(const connection& c, const packet& p) = 0;

    /// A server is about to answer a request with `code`; for a write, after having applied it.
    virtual void answering(const connection& c, const request& r, result_code code) = 0;

    /// The first server has applied a transaction.
    virtual void committed(const transaction& t) = 0;

    /// A watch fires, because of what was applied or, if `replayed`, because its client
    /// reconnected.
    virtual void notified(const connection& c, const std::string& path, bool replayed) = 0;

protected:
    ~observer() = default;
};

}  // namespace latchkey::model
