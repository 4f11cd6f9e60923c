#pragma once

#include <latchkey/hold.hpp>

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace latchkey::test {

/// Looks at the holds that are in use on one path: whether more of them are valid than may be.
///
/// A session that is ended by hand, and a znode that is deleted, give the lock away before their
/// holder knows of it. So what looks like too many is judged when the oldest hold leaves: it has to
/// learn of its loss.
class judge_of_holds {
public:
    /// `capacity`: how much of the path may be held at once.
    judge_of_holds(std::string path, std::uint32_t capacity)
        : path_(std::move(path)), capacity_(capacity) {}

    judge_of_holds(const judge_of_holds&) = delete;
    judge_of_holds& operator=(const judge_of_holds&) = delete;
    ~judge_of_holds() = default;

    /// From the grant to the release.
    class visit {
    public:
        visit(judge_of_holds& j, const hold& h, std::uint32_t weight);
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit();

    private:
        friend class judge_of_holds;

        judge_of_holds& judge_;
        const hold& of_;
        const std::uint32_t weight_;
        bool suspect_ = false;  ///< it has to be lost by now, or soon; guarded by the judge
    };

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    [[nodiscard]] std::uint64_t visits() const;

    /// What was wrong.
    [[nodiscard]] std::vector<std::string> findings() const;

private:
    void enter(visit& v);
    void leave(visit& v);

    const std::string path_;
    const std::uint32_t capacity_;
    mutable std::mutex guard_;
    std::list<visit*> inside_;  ///< guarded, as all that follows
    fencing_token newest_;
    std::uint64_t visits_ = 0;
    std::vector<std::string> findings_;
};

}  // namespace latchkey::test
