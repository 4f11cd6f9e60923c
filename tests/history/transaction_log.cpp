#include "transaction_log.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <istream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>
#include <utility>

namespace latchkey::history {
namespace {

/// ZooKeeper's record types, with its numbers; the others change no znode.
enum class record_type : std::int32_t {
    refused = -1,
    create = 1,
    remove = 2,
    set_data = 5,
    multi = 14,
    create2 = 15,
    create_container = 19,
    remove_container = 20,
    create_ttl = 21,
    create_session = -10,
    close_session = -11,
};

/// Big endian, as Java writes it.
class reader {
public:
    explicit reader(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] std::size_t size() const { return rest_.size(); }

    std::string_view take(std::size_t n) {
        if (rest_.size() < n) {
            throw std::runtime_error("an entry of the transaction log ends too early");
        }
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }

    std::uint64_t unsigned_number(std::size_t n) {
        std::uint64_t value = 0;
        for (const char c : take(n)) {
            value = value << 8U | static_cast<unsigned char>(c);
        }
        return value;
    }

    std::int32_t number() { return static_cast<std::int32_t>(unsigned_number(4)); }

    std::int64_t long_number() { return static_cast<std::int64_t>(unsigned_number(8)); }

    bool boolean() { return unsigned_number(1) != 0; }

    /// A length and so many bytes; -1 is null.
    std::string_view buffer() {
        const std::int32_t length = number();
        return length < 0 ? std::string_view() : take(static_cast<std::size_t>(length));
    }

    std::string text() { return std::string(buffer()); }

    void skip_access() {
        for (std::int32_t entries = number(); entries > 0; --entries) {
            number();
            buffer();
            buffer();
        }
    }

private:
    std::string_view rest_;
};

void add_change(record_type type, reader record, transaction& to);

void add_create(record_type type, reader& record, transaction& to) {
    znode_change change{.what = znode_change::kind::created, .path = record.text()};
    const std::string_view data = record.buffer();
    record.skip_access();
    if (type == record_type::create || type == record_type::create2) {
        change.ephemeral = record.boolean();
    }
    if (!change.ephemeral) {
        change.data = data;
    }
    to.changes.push_back(std::move(change));
}

/// All of them, or none: of those that were refused, some steps may look as if they had not been.
void add_operations(reader& record, transaction& to) {
    const std::size_t before = to.changes.size();
    bool refused = false;
    for (std::int32_t left = record.number(); left > 0; --left) {
        const auto type = static_cast<record_type>(record.number());
        refused = refused || type == record_type::refused;
        add_change(type, reader(record.buffer()), to);
    }
    if (refused) {
        to.changes.resize(before);
    }
}

void add_change(record_type type, reader record, transaction& to) {
    switch (type) {
        case record_type::create:
        case record_type::create2:
        case record_type::create_container:
        case record_type::create_ttl:
            add_create(type, record, to);
            break;
        case record_type::remove:
        case record_type::remove_container:
            to.changes.push_back({.what = znode_change::kind::removed, .path = record.text()});
            break;
        case record_type::set_data:
            to.changes.push_back({.what = znode_change::kind::changed, .path = record.text()});
            to.changes.back().data = record.text();
            break;
        case record_type::multi:
            add_operations(record, to);
            break;
        case record_type::refused:
            break;
        case record_type::create_session:
            to.opens_session = true;
            break;
        case record_type::close_session:
            to.closes_session = true;
            break;
    }
}

transaction parse_entry(reader entry) {
    transaction result;
    result.session = entry.long_number();
    entry.number();  // the client's own count of its requests
    result.zxid = entry.long_number();
    result.wall_ms = entry.long_number();
    const auto type = static_cast<record_type>(entry.number());
    add_change(type, entry, result);
    return result;
}

std::uint32_t adler32(std::string_view bytes) {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : bytes) {
        a = (a + static_cast<unsigned char>(c)) % 65521U;
        b = (b + a) % 65521U;
    }
    return b << 16U | a;
}

std::string hex(std::int64_t zxid) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(zxid));
    return text;
}

std::uint64_t zxid_of(const std::filesystem::path& file) {
    return std::stoull(file.extension().string().substr(1), nullptr, 16);
}

std::int64_t first_of_its_epoch(std::int64_t zxid) {
    return (zxid >> 32 << 32) + 1;
}

std::vector<transaction> values_of(std::map<std::int64_t, transaction> by_zxid) {
    std::vector<transaction> result;
    for (auto& [zxid, entry] : by_zxid) {
        result.push_back(std::move(entry));
    }
    return result;
}

void check_for_gaps(const std::map<std::int64_t, transaction>& history) {
    const transaction* before = nullptr;
    for (const auto& [zxid, entry] : history) {
        const bool same_epoch = before != nullptr && before->zxid >> 32 == zxid >> 32;
        const std::int64_t expected = same_epoch ? before->zxid + 1 : first_of_its_epoch(zxid);
        if (zxid != expected) {
            throw std::runtime_error("no majority logged " + hex(expected) + ", and one logged " +
                                     hex(zxid));
        }
        before = &entry;
    }
}

}  // namespace

std::vector<transaction> parse_log(std::string_view bytes) {
    static constexpr std::size_t header = 16;
    if (bytes.size() < header || bytes.substr(0, 4) != "ZKLG") {
        throw std::runtime_error("not a transaction log");
    }
    reader rest(bytes.substr(header));
    std::vector<transaction> result;
    while (rest.size() >= 12) {
        const auto checksum = rest.unsigned_number(8);
        const auto length = rest.unsigned_number(4);
        // Padding; or an entry that the server was killed over, and its end mark with it.
        if (length == 0 || rest.size() < length + 1) {
            break;
        }
        const std::string_view entry = rest.take(length);
        const char end_mark = rest.take(1).front();
        if (end_mark != 'B') {
            break;
        }
        if (checksum != adler32(entry)) {
            throw std::runtime_error("an entry of the transaction log has a wrong checksum");
        }
        result.push_back(parse_entry(reader(entry)));
    }
    return result;
}

std::vector<transaction> read_logs(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().stem() == "log") {
            files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return zxid_of(a) < zxid_of(b);
    });
    std::map<std::int64_t, transaction> entries;
    for (const auto& file : files) {
        std::ifstream stream(file, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        if (bytes.empty()) {
            continue;  // made, and not begun
        }
        for (transaction& entry : parse_log(bytes)) {
            entries[entry.zxid] = std::move(entry);
        }
    }
    return values_of(std::move(entries));
}

void note_beginnings(epoch_beginnings& all, std::istream& server_log) {
    // A leader takes a snapshot before it looks for followers, in the thread of its elections.
    static const std::regex told(
        R"(\[QuorumPeer.*(Snapshotting|last processed zxid): 0x([0-9a-f]+))");
    std::int64_t last = -1;
    std::smatch found;
    for (std::string line; std::getline(server_log, line);) {
        if (std::regex_search(line, found, told)) {
            const auto zxid = static_cast<std::int64_t>(std::stoull(found[2], nullptr, 16));
            if (found[1] == "Snapshotting") {
                last = zxid;
            } else if (last >= 0) {
                all[first_of_its_epoch(zxid)] = last;
            }
        }
    }
}

std::vector<transaction> committed(const std::vector<std::vector<transaction>>& servers,
                                   const epoch_beginnings& epochs) {
    std::map<std::int64_t, std::vector<const transaction*>> logged;
    for (const auto& server : servers) {
        for (const transaction& entry : server) {
            logged[entry.zxid].push_back(&entry);
        }
    }
    std::map<std::int64_t, transaction> history;
    for (const auto& [zxid, copies] : logged) {
        if (2 * copies.size() <= servers.size()) {
            continue;
        }
        for (const transaction* copy : copies) {
            if (*copy != *copies.front()) {
                throw std::runtime_error("servers have logged different things as " + hex(zxid));
            }
        }
        history.emplace(zxid, *copies.front());
    }
    for (const auto& [first, before] : epochs) {
        history.erase(history.upper_bound(before), history.lower_bound(first));
    }
    check_for_gaps(history);
    return values_of(std::move(history));
}

}  // namespace latchkey::history
