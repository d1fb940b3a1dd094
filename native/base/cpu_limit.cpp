#include "native/base/cpu_limit.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace spinney {
namespace {

namespace fs = std::filesystem;

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

/// One line of /proc/self/cgroup: "hierarchy:controllers:path"; the path may hold colons.
struct Membership {
    std::string controllers;  ///< comma-separated; empty for version 2
    fs::path group;           ///< relative to the hierarchy's mount
};

std::optional<Membership> parse_membership(const std::string& line) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
        return std::nullopt;
    }
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    if (std::ranges::find(group, fs::path("..")) != group.end()) {
        group.clear();  // outside our namespace: only the mount's root can be seen
    }
    return Membership{line.substr(first + 1, second - first - 1), std::move(group)};
}

bool lists(std::string_view controllers, std::string_view name) {
    for (;;) {
        const std::size_t comma = controllers.find(',');
        if (controllers.substr(0, comma) == name) {
            return true;
        }
        if (comma == std::string_view::npos) {
            return false;
        }
        controllers.remove_prefix(comma + 1);
    }
}

std::optional<std::int64_t> parse_microseconds(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value <= 0) {
        return std::nullopt;  // "max" and -1 mean no quota; anything else is malformed
    }
    return value;
}

double quota_of(const std::string& quota, const std::string& period) {
    const auto granted = parse_microseconds(quota);
    const auto out_of = parse_microseconds(period);
    return granted && out_of ? static_cast<double>(*granted) / static_cast<double>(*out_of)
                             : kNoQuota;
}

std::string first_word(const fs::path& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

double quota_v2(const fs::path& folder) {
    std::string quota;
    std::string period;
    std::ifstream(folder / "cpu.max") >> quota >> period;
    return quota_of(quota, period);
}

double quota_v1(const fs::path& folder) {
    return quota_of(first_word(folder / "cpu.cfs_quota_us"),
                    first_word(folder / "cpu.cfs_period_us"));
}

/// The smallest quota of mount/group, its parents, and the mount itself.
double smallest_on_the_way_up(const fs::path& mount, fs::path group,
                              double (*quota)(const fs::path&)) {
    double smallest = quota(mount);
    for (; !group.empty(); group = group.parent_path()) {
        smallest = std::min(smallest, quota(mount / group));
    }
    return smallest;
}

/// How many processors the scheduler may put us on; 0 when it does not say.
int affinity_count() {
#if defined(__linux__)
    // The kernel refuses a mask smaller than its own, so grow it until it fits.
    for (std::size_t n_sets = 1; n_sets <= 1024; n_sets *= 2) {
        std::vector<cpu_set_t> sets(n_sets);
        const std::size_t n_bytes = n_sets * sizeof(cpu_set_t);
        if (sched_getaffinity(0, n_bytes, sets.data()) == 0) {
            return CPU_COUNT_S(n_bytes, sets.data());
        }
    }
#endif
    return 0;
}

/// The quota as it was at most a second ago: reading it takes as long as predicting a hundred rows.
/// Threads that find it old at the same time all read it, and none waits for another.
double recent_cpu_quota() {
    using Clock = std::chrono::steady_clock;
    static std::atomic<double> quota{kNoQuota};
    static std::atomic<Clock::rep> good_until{Clock::time_point::min().time_since_epoch().count()};
    const Clock::time_point now = Clock::now();
    if (now.time_since_epoch().count() >= good_until.load(std::memory_order_acquire)) {
        quota.store(cgroup_cpu_quota("/"), std::memory_order_relaxed);
        const Clock::time_point next = now + std::chrono::seconds(1);
        good_until.store(next.time_since_epoch().count(), std::memory_order_release);
    }
    return quota.load(std::memory_order_relaxed);
}

}  // namespace

double cgroup_cpu_quota(const fs::path& root) {
    const fs::path mounts = root / "sys" / "fs" / "cgroup";
    std::ifstream memberships(root / "proc" / "self" / "cgroup");
    double smallest = kNoQuota;
    for (std::string line; std::getline(memberships, line);) {
        const auto own = parse_membership(line);
        if (!own) {
            continue;
        }
        const auto visit = [&](const fs::path& mount, double (*quota)(const fs::path&)) {
            smallest = std::min(smallest, smallest_on_the_way_up(mount, own->group, quota));
        };
        if (own->controllers.empty()) {
            visit(mounts, quota_v2);
            visit(mounts / "unified", quota_v2);  // beside version 1
        } else if (lists(own->controllers, "cpu")) {
            visit(mounts / "cpu", quota_v1);
            visit(mounts / own->controllers, quota_v1);  // "cpu,cpuacct"
        }
    }
    return smallest;
}

int available_threads() {
    int count = affinity_count();
    if (count <= 0) {
        count = static_cast<int>(std::thread::hardware_concurrency());  // 0 when unknown
    }
    const double quota = std::ceil(recent_cpu_quota());
    if (quota < count) {
        count = static_cast<int>(quota);
    }
    return std::max(1, count);
}

}  // namespace spinney
