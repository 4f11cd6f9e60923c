// A database that refuses the late write of a holder that was stopped. docs/fencing.md explains it
// and shows the parts between the marks.
//
//     example_fencing_sqlite [FILE]
//
// It needs no servers: latchkey::testing::ensemble behaves like three of them and stops a client
// on demand.
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

using namespace std::chrono_literals;

constexpr const char* schema = R"sql(
-- [schema]
CREATE TABLE IF NOT EXISTS fence (
    lock  TEXT PRIMARY KEY,
    token INTEGER NOT NULL    -- the highest token that has written under this lock
);
CREATE TABLE IF NOT EXISTS invoices (
    number   INTEGER PRIMARY KEY,
    customer TEXT NOT NULL
);
INSERT OR IGNORE INTO fence VALUES ('/jobs/invoices', 0);
-- [/schema]
)sql";

constexpr const char* raise_fence = R"sql(
-- [raise]
UPDATE fence SET token = :token WHERE lock = '/jobs/invoices' AND token <= :token
-- [/raise]
)sql";

/// The resource. It knows nothing of locks and compares numbers.
class invoice_store {
public:
    explicit invoice_store(const std::string& file) {
        check(sqlite3_open(file.c_str(), &db_));
        check(sqlite3_busy_timeout(db_, 5000));
        execute(schema);
    }

    invoice_store(const invoice_store&) = delete;
    invoice_store& operator=(const invoice_store&) = delete;

    ~invoice_store() { sqlite3_close(db_); }

    bool write(latchkey::fencing_token token, const std::function<void()>& changes);
    int last_number();
    void add(int number, const std::string& customer);

private:
    void execute(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }

    /// Runs one statement with at most two parameters, and returns the number in its first column.
    int run(const char* sql, std::int64_t first = 0, const std::string& second = {});
    void check(int code) const;

    sqlite3* db_ = nullptr;
};

// [write]
/// Commits `changes` if no later holder has written, and returns whether it did.
bool invoice_store::write(latchkey::fencing_token token, const std::function<void()>& changes) {
    execute("BEGIN IMMEDIATE");  // waits for other writers here, not later
    try {
        run(raise_fence, token.value());
        if (sqlite3_changes(db_) != 1) {
            execute("ROLLBACK");
            return false;  // the token is lower than the highest: a later holder was here
        }
        changes();
        execute("COMMIT");
        return true;
    } catch (...) {
        sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

// [/write]

int invoice_store::last_number() {
    return run("SELECT coalesce(max(number), 0) FROM invoices");
}

void invoice_store::add(int number, const std::string& customer) {
    run("INSERT OR REPLACE INTO invoices VALUES (?, ?)", number, customer);
}

int invoice_store::run(const char* sql, std::int64_t first, const std::string& second) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr));
    const int parameters = sqlite3_bind_parameter_count(statement);
    if (parameters > 0) {
        sqlite3_bind_int64(statement, 1, first);
    }
    if (parameters > 1) {
        sqlite3_bind_text(statement, 2, second.c_str(), -1, SQLITE_TRANSIENT);
    }
    const int number = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : 0;
    check(sqlite3_finalize(statement));
    return number;
}

void invoice_store::check(int code) const {
    if (code != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(db_));
    }
}

void expect(bool holds, const char* claim) {
    std::cout << (holds ? "yes: " : "NO:  ") << claim << '\n';
    if (!holds) {
        std::exit(1);
    }
}

int main(int argc, char** argv) {
    invoice_store store(argc > 1 ? argv[1] : ":memory:");
    latchkey::testing::ensemble servers;
    auto zk_a = servers.connect({.session_timeout = 6s});
    auto zk_b = servers.connect({.session_timeout = 6s});
    latchkey::mutex invoices_a(zk_a, "/jobs/invoices");
    latchkey::mutex invoices_b(zk_b, "/jobs/invoices");

    // [paused]
    // A acquires the lock, writes once, and reads the last number for its next invoice.
    latchkey::hold a = invoices_a.acquire();
    expect(store.write(a.token(), [&] { store.add(1, "Adams"); }), "A writes invoice 1");
    const int next_a = store.last_number() + 1;

    // A is stopped here, before its second write. The servers end its session.
    servers.pause(zk_a.session_id());
    servers.advance(20s);

    // B gets the lock. Its first write raises the fence. Only then does it read.
    latchkey::hold b = invoices_b.acquire();
    expect(b.token() > a.token(), "B's token is higher");
    expect(store.write(b.token(), [&] { store.add(store.last_number() + 1, "Brown"); }),
           "B writes invoice 2");

    // A resumes where it was stopped, with the number 2 in its hand.
    servers.resume(zk_a.session_id());
    expect(!store.write(a.token(), [&] { store.add(next_a, "Clark"); }),
           "A's late write of invoice 2 is refused");
    // [/paused]
    expect(!a.valid(), "A can see that its hold is over");
    expect(store.last_number() == 2, "nothing was overwritten");
}
