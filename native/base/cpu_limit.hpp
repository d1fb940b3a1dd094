/// How many threads this process may keep busy.
#pragma once

#include <filesystem>

namespace spinney {

/// The smallest of the processors this process may run on (affinity) and its control-group quota
/// rounded up; at least 1. Both can change while we run: the affinity is asked for at every call,
/// the quota, which takes some file reads, at most once a second.
int available_threads();

/// The processors' worth of time the control groups grant, e.g. 1.5; infinity when unlimited.
///
/// Reads root/proc/self/cgroup, then under root/sys/fs/cgroup either cpu.max (version 2) or
/// cpu.cfs_quota_us and cpu.cfs_period_us (version 1). A quota binds all groups below it, so the
/// smallest on the way from our own group up to the mount's root counts; the root is read even if
/// our own path does not exist, because a container may show the host's path. What is missing or
/// malformed limits nothing.
double cgroup_cpu_quota(const std::filesystem::path& root);

}  // namespace spinney
