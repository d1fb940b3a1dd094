#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "native/base/cpu_limit.hpp"
#include "tests/native/check.hpp"

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

namespace fs = std::filesystem;
using spinney::cgroup_cpu_quota;

namespace {

/// A pretended machine: a folder with its own /proc and /sys, removed at the end.
class FakeRoot {
  public:
    FakeRoot() {
        static int count = 0;
        std::string pattern = (fs::temp_directory_path() / "spinney-cgroup-XXXXXX").string();
#if defined(__linux__)
        if (mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
#endif
        root_ = fs::path(pattern) / std::to_string(count++);
    }
    ~FakeRoot() {
        std::error_code ignored;
        fs::remove_all(root_.parent_path(), ignored);
    }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;

    FakeRoot& file(const fs::path& name, std::string_view text) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
        return *this;
    }
    FakeRoot& membership(std::string_view text) { return file("proc/self/cgroup", text); }
    FakeRoot& group(const fs::path& name, std::string_view text) {
        return file("sys/fs/cgroup" / name, text);
    }
    FakeRoot& v1(const fs::path& folder, std::string_view quota, std::string_view period) {
        return group(folder / "cpu.cfs_quota_us", quota)
            .group(folder / "cpu.cfs_period_us", period);
    }
    double quota() const { return cgroup_cpu_quota(root_); }

  private:
    fs::path root_;
};

}  // namespace

TEST(without_files_there_is_no_quota) {
    CHECK(std::isinf(FakeRoot().quota()));
    CHECK(std::isinf(FakeRoot().membership("").quota()));
    CHECK(std::isinf(FakeRoot().membership("0::/a/b\n").quota()));
    CHECK(std::isinf(cgroup_cpu_quota("/no/such/folder")));
}

TEST(version_2_gives_quota_over_period) {
    CHECK(FakeRoot().membership("0::/\n").group("cpu.max", "150000 100000\n").quota() == 1.5);
    CHECK(FakeRoot().membership("0::/a\n").group("a/cpu.max", "50000 200000\n").quota() == 0.25);
    CHECK(std::isinf(FakeRoot().membership("0::/\n").group("cpu.max", "max 100000\n").quota()));
}

TEST(version_2_takes_the_smallest_from_the_own_group_up_to_the_root) {
    FakeRoot machine;
    machine.membership("0::/pod/job/step\n").group("pod/job/step/cpu.max", "800000 100000\n");
    CHECK(machine.quota() == 8);
    machine.group("pod/job/cpu.max", "max 100000\n");
    CHECK(machine.quota() == 8);
    machine.group("pod/cpu.max", "300000 100000\n");
    CHECK(machine.quota() == 3);
    machine.group("cpu.max", "400000 100000\n");
    CHECK(machine.quota() == 3);
    machine.group("pod/other/cpu.max", "100000 100000\n");  // not on our way
    CHECK(machine.quota() == 3);
}

TEST(version_2_in_a_container_that_shows_the_hosts_path_reads_the_mount) {
    CHECK(FakeRoot()
              .membership("0::/system.slice/docker-12ab.scope\n")
              .group("cpu.max", "200000 100000\n")
              .quota() == 2);
    CHECK(FakeRoot().membership("0::/../../x\n").group("cpu.max", "200000 100000\n").quota() == 2);
}

TEST(a_path_never_leads_out_of_the_mount) {
    CHECK(std::isinf(
        FakeRoot().membership("0::/a/../..\n").file("sys/fs/cpu.max", "100000 100000\n").quota()));
}

TEST(a_path_may_hold_colons_and_spaces) {
    CHECK(FakeRoot()
              .membership("0::/user:1000/my job\n")
              .group("user:1000/my job/cpu.max", "700000 100000\n")
              .quota() == 7);
}

TEST(version_1_gives_quota_over_period_and_minus_one_is_none) {
    constexpr std::string_view kOwn = "5:memory:/m\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/\n";
    CHECK(FakeRoot().membership(kOwn).v1("cpu,cpuacct/docker/ab", "250000\n", "100000\n").quota() ==
          2.5);
    CHECK(FakeRoot().membership(kOwn).v1("cpu/docker/ab", "250000\n", "100000\n").quota() == 2.5);
    CHECK(std::isinf(FakeRoot().membership(kOwn).v1("cpu/docker/ab", "-1\n", "100000\n").quota()));
    CHECK(FakeRoot().membership("4:cpuacct,cpu:/\n").v1("cpu", "50000", "100000").quota() == 0.5);
}

TEST(version_1_takes_the_smallest_up_to_the_mount_even_if_the_path_is_the_hosts) {
    FakeRoot machine;
    machine.membership("4:cpu:/docker/ab\n").v1("cpu", "400000", "100000");
    CHECK(machine.quota() == 4);
    machine.v1("cpu/docker/ab", "-1", "100000").v1("cpu/docker", "300000", "100000");
    CHECK(machine.quota() == 3);
}

TEST(controllers_whose_names_only_begin_with_cpu_do_not_count) {
    CHECK(std::isinf(FakeRoot()
                         .membership("3:cpuset:/\n2:cpuacct:/\n7:name=cpu:/\n")
                         .v1("cpu", "100000", "100000")
                         .v1("cpuset", "100000", "100000")
                         .v1("cpuacct", "100000", "100000")
                         .quota()));
}

TEST(both_versions_at_once_give_the_smaller) {
    FakeRoot machine;
    machine.membership("1:cpu:/\n0::/a\n").v1("cpu", "300000", "100000");
    machine.group("unified/a/cpu.max", "200000 100000\n");
    CHECK(machine.quota() == 2);
}

TEST(malformed_files_limit_nothing) {
    for (const char* text :
         {"", "\n", "100000", "x 100000", "100000 x", "100000 0", "0 100000", "-5 100000",
          "100000 -100000", "1e5 100000", "0x10 100000", "99999999999999999999 1", "+1 1",
          "nan 100000", "max", "\xff\xfe\x00\x01"}) {
        CHECK(std::isinf(FakeRoot().membership("0::/\n").group("cpu.max", text).quota()));
    }
    for (const char* text :
         {"", "x", "0", "-1", "-5", "1e5", "0x10", "99999999999999999999", "max"}) {
        CHECK(std::isinf(FakeRoot().membership("1:cpu:/").v1("cpu", text, "100000").quota()));
        CHECK(std::isinf(FakeRoot().membership("1:cpu:/").v1("cpu", "100000", text).quota()));
    }
    CHECK(std::isinf(FakeRoot()
                         .membership("1:cpu:/\n")
                         .group("cpu/cpu.cfs_quota_us", "100000")  // and no period
                         .quota()));
    CHECK(std::isinf(FakeRoot().membership("0::/\n").group("cpu.max/file", "").quota()));
}

TEST(malformed_memberships_are_passed_over) {
    for (const char* line : {"", ":", "0", "0:", "cpu", "::", "0::", "0:cpu", ",,,:,,,:,,,"}) {
        FakeRoot machine;
        machine.membership(std::string(line) + "\n0::/good\n");
        machine.group("good/cpu.max", "600000 100000\n");
        CHECK(machine.quota() == 6);
    }
}

TEST(available_threads_is_positive_and_within_the_hardware) {
    const int n = spinney::available_threads();
    CHECK(n >= 1);
    CHECK(n <= static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    const double quota = cgroup_cpu_quota("/");
    CHECK(std::isinf(quota) || n <= std::ceil(quota));
}

#if defined(__linux__)
TEST(available_threads_follows_the_affinity) {
    cpu_set_t before;
    CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &before)) {
        ++first;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    CHECK(spinney::available_threads() == 1);
    CHECK(sched_setaffinity(0, sizeof(before), &before) == 0);
}
#endif

CHECK_MAIN
