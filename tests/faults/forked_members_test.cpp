#include "fork_table.hpp"
#include "public_members.hpp"
#include "sanitized.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

/// What has no threads of its own, and is used by the functions in the table: values, and what
/// coroutines and handlers are made of.
const std::set<std::string> values{"awaitable",
                                   "awaitable_handler",
                                   "awaitable_with_error",
                                   "awaited_call",
                                   "error",
                                   "fork_aware_lock",
                                   "move_only_function",
                                   "operation",
                                   "operation_list",
                                   "option",
                                   "prometheus_metrics",  // in prometheus_test.cpp
                                   "prometheus_stats",
                                   "shared_ref",
                                   "started_call"};

std::string class_of(const std::string& member) {
    return member.substr(0, member.find("::"));
}

TEST(ForkTable, HasARowForEachPublicMember) {
    std::set<std::string> rows;
    for (const fork_row& r : fork_table()) {
        rows.insert(r.member);
    }
    std::vector<std::string> missing;
    const auto members = public_members(LATCHKEY_INCLUDE_DIRECTORY);
    for (const std::string& m : members) {
        if (!values.contains(class_of(m)) && !rows.contains(m)) {
            missing.push_back(m);
        }
    }
    EXPECT_THAT(missing, ::testing::IsEmpty());
    EXPECT_GT(members.size(), 200U);
}

TEST(ForkTable, SeesWhatAHeaderDeclares) {
    static_cast<void>(public_members_in(
        "\nclass one_forms {\npublic:\n    void form() { if (x) { y(); } }\n};\n"));
    EXPECT_THAT(public_members_in(R"(
class [[nodiscard]] LATCHKEY_EXPORT thing : public one_forms<thing> {
    void hidden();
public:
    using handler = std::function<void(int)>;
    struct listener { std::function<void()> told = {}; };
    thing(const client& c, options o = {});
    thing(const thing&) = delete;
    ~thing();
    // void comment();
    template <class T>
    [[nodiscard]] std::function<int(T)> reader(T t = f()) const { return {}; }
    explicit operator bool() const noexcept;
private:
    void secret();
};
)"),
                ::testing::UnorderedElementsAre("thing::thing",
                                                "thing::~thing",
                                                "thing::reader",
                                                "thing::operator bool",
                                                "thing::form"));
}

class ForkedMembers : public ::testing::TestWithParam<std::size_t> {
protected:
    ForkedMembers() {
        void* const page = ::mmap(nullptr,
                                  sizeof(std::atomic<std::size_t>),
                                  PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS,
                                  -1,
                                  0);
        at_ = new (page) std::atomic<std::size_t>(0);
    }

    ForkedMembers(const ForkedMembers&) = delete;
    ForkedMembers& operator=(const ForkedMembers&) = delete;

    ~ForkedMembers() override { ::munmap(at_, sizeof(*at_)); }

    static void call(const std::function<void(forked_world&)>& member, forked_world& w) {
        try {
            member(w);
        } catch (const error&) {
        }
    }

    [[noreturn]] void use_in_child(const fork_rows& rows, forked_world& w) const {
        w.in_child = true;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!rows[i].costly || i == GetParam()) {
                *at_ = i;
                ::alarm(20);
                call(rows[i].call, w);
            }
        }
        ::_exit(0);
    }

    std::atomic<std::size_t>* at_ = nullptr;  ///< which row a child calls
};

std::string name_of_row(const ::testing::TestParamInfo<std::size_t>& p) {
    std::string name = std::to_string(p.param) + "_";
    const std::string member = fork_table().at(p.param).member;
    for (const char c : member) {
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c)
                : c == '~'                                       ? "End"
                : c == '='                                       ? "Assign"
                                                                 : "";
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(Of,
                         ForkedMembers,
                         ::testing::Range(std::size_t{0}, fork_table().size()),
                         &name_of_row);

TEST_P(ForkedMembers, ReturnWhereverAThreadOfTheParentWas) {
    if (sanitized) {
        GTEST_SKIP() << "a sanitizer's allocator may be locked in a child";
    }
    const fork_rows rows = fork_table();
    const fork_row& row = rows.at(GetParam());
    forked_world w;
    std::atomic<bool> stop{false};
    std::atomic<int> calls{0};
    std::thread inside([&] {
        while (!stop) {
            call(row.inside(), w);
            ++calls;
        }
    });
    for (int i = 0; i < 6; ++i) {
        const int begun = calls;
        while (calls == begun) {
            std::this_thread::yield();
        }
        const pid_t child = ::fork();
        if (child == 0) {
            use_in_child(rows, w);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << rows.at(*at_).member << (status == SIGALRM ? " hung" : " failed")
                             << " in the child";
        if (status != 0) {
            break;
        }
    }
    stop = true;
    inside.join();
}

}  // namespace
}  // namespace latchkey::test
