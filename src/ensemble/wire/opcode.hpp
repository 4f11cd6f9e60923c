#pragma once

#include <cstdint>

namespace latchkey::model {

/// ZooKeeper's operations, with its numbers. A client may send others.
enum class opcode : std::int32_t {
    none = 0,
    create = 1,
    remove = 2,
    exists = 3,
    get_data = 4,
    set_data = 5,
    get_acl = 6,
    set_acl = 7,
    get_children = 8,
    sync = 9,
    ping = 11,
    get_children2 = 12,
    check = 13,
    multi = 14,
    create2 = 15,  ///< is answered with a Stat
    reconfig = 16,
    check_watches = 17,
    remove_watches = 18,
    create_container = 19,
    delete_container = 20,  ///< of the servers among themselves
    create_ttl = 21,
    multi_read = 22,
    auth = 100,
    set_watches = 101,
    ephemerals = 103,
    all_children_number = 104,
    set_watches2 = 105,  ///< the same with lasting watches
    add_watch = 106,
    who_am_i = 107,
    connect = -10,
    close_session = -11,
    error = -1,  ///< stands for an operation in the answer to a failed multi
};

}  // namespace latchkey::model
