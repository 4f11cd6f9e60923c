#pragma once

#include "ensemble/connection.hpp"
#include "ensemble/fault_plan.hpp"
#include "ensemble/transaction.hpp"

#include <cstdint>
#include <string>

namespace latchkey::model {

struct client_process;

/// Sees what happens inside the ensemble, from the point of view of somebody who knows all of it.
/// Called on the loop, in the middle of what a server does: what it wants to do about it, other
/// than what received() returns, it does as an event of its own.
class observer {
public:
    observer() = default;
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    /// A client has a session, a new one or again.
    virtual void opened(std::int64_t session, const client_process& by) = 0;

    /// A server received a request, or the farewell of a session; nothing has come of it yet.
    /// Returns what is to go wrong with a request.
    virtual fault_plan::verdict received(const connection& c, const packet& p) = 0;

    /// A server is about to answer a request; for a write, after having applied it.
    virtual void answering(const connection& c, const request& r) = 0;

    /// The first server has applied a transaction.
    virtual void committed(const transaction& t) = 0;

    /// A watch is told, because of what was applied or, replayed, because its client came back.
    virtual void notified(const connection& c, const std::string& path, bool replayed) = 0;

protected:
    ~observer() = default;
};

}  // namespace latchkey::model
