// SPDX-License-Identifier: MIT
// Tests of the C++ header, between real processes.
#include "afteryou.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;

#define EXPECT(condition)                                                                                              \
    do                                                                                                                 \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    while (0)

static void test_passages(afteryou::space &space)
{
    auto region = space.open({"x"}), other = space.open({"x"});
    std::uint64_t fence;
    {
        afteryou::passage inside(region);
        fence = inside.fence();
        EXPECT(!inside.after_death());
        EXPECT(!other.try_lock());
        EXPECT(!other.try_lock_for(5ms));
    }
    std::unique_lock<afteryou::region> lock(other, 1s);
    EXPECT(lock.owns_lock() && other.fence() > fence);
}

static void test_errors(afteryou::space &space)
{
    auto region = space.open({"slots", AY_EXCLUSIVE, 2});
    try {
        space.open({"slots", AY_EXCLUSIVE, 3});
        EXPECT(false);
    } catch (const std::system_error &error) {
        EXPECT(error.code() == std::errc::invalid_argument);
    }
}

static void test_units_and_conditions(afteryou::space &space)
{
    afteryou::spec spec{"units"};
    spec.take = 2;
    spec.of = 5;
    auto units = space.open(spec);
    {
        afteryou::passage inside(units);
        EXPECT((inside.units() == std::vector<unsigned>{0, 1}));
    }
    auto region = space.open({"when"});
    bool ready = false;
    EXPECT(!region.try_lock_when([&] { return ready; }, 5ms));
    ready = true;
    afteryou::passage inside(region, [&] { return ready; });
}

static void test_death(afteryou::space &space, const std::string &name)
{
    const pid_t child = fork();
    if (child == 0) {
        afteryou::space own(name);
        auto region = own.open({"x"});
        region.lock();
        raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
    auto region = space.open({"x"});
    EXPECT(region.try_lock_for(60s) && region.after_death());
    int inside = 0;
    afteryou::look(name, [&](const ay_place &place) { inside += place.state == AY_INSIDE; });
    EXPECT(inside == 1);
    region.unlock();
}

int main()
{
    char directory[] = "/dev/shm/afteryou-test-XXXXXX";
    EXPECT(mkdtemp(directory));
    const std::string name = std::string(directory) + "/space";
    {
        afteryou::space space(name);
        test_passages(space);
        test_errors(space);
        test_units_and_conditions(space);
        test_death(space, name);
    }
    afteryou::remove(name);
    EXPECT(rmdir(directory) == 0);
}
