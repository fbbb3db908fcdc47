/* SPDX-License-Identifier: MIT */
/* The keeper: a thread that owns a robust list, so that the kernel announces the death of our
 * process (that of the thread inside: pulse.c); and takes back, when a rival asks, what this
 * process retains.
 *
 * On exit, exec, a crash or SIGKILL the kernel walks the list and writes FUTEX_OWNER_DIED into the
 * life of every place on it, before it tears down the memory. The list is the keeper's own
 * (set_robust_list): the list that glibc keeps for each thread, with the program's own robust
 * mutexes, is not touched.
 *
 *   head -> node -> node -> head      node + futex_offset = the life of its place
 *
 * If the program's threads have all ended (its first by pthread_exit), the keeper must not be what
 * keeps the process: it ends it, as the last thread would have. It looks for that, once a second,
 * only when no thread is left that has ever opened or entered a region; the last of these rings the
 * bell.
 *
 * The kernel may walk the list at any moment, while another thread changes it. So a node is
 * complete before the one store that links it, and one store unlinks it:
 *   K1  A life carries the keeper's TID only while its node is linked.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/courtesy/retention.h"
#include "memory/passage/region.h"
#include "memory/remote/cluster.h"

enum {
    LIST_MOST = 2000 /* the kernel walks 2048 nodes */,
    TRY_AGAIN_NS = 200 * 1000,
    LOOK_AGAIN_NS = 64 * 1000 * 1000,
    LOOK_ALONE_NS = 1000 * 1000 * 1000
};

static struct robust_list_head head;
static _Atomic uint32_t keeper_tid; /* 0: not there, or not ready */
/* rung when the keeper has to look at `ending` and at the places again */
static _Atomic uint32_t bell;
static _Atomic bool ending;
/* threads that have opened or entered a region, and have not ended */
static _Atomic unsigned users;
static pthread_key_t end_of_user;
static bool can_count_users; /* set when the first thread is counted, under the mutex */
static pthread_t keeper;
static int keeper_error;

static long futex(_Atomic uint32_t *address, int operation, uint32_t value)
{
    return syscall(SYS_futex, address, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Whoever has the mutex may be about to end this thread: then it is not waited for. */
static bool lock_unless_ending(void)
{
    while (!atomic_load(&ending)) {
        if (pthread_mutex_trylock(&ay__process.mutex) == 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = TRY_AGAIN_NS}, NULL);
    }
    return false;
}

static void uncount_user(void *unused)
{
    (void)unused;
    if (atomic_fetch_sub(&users, 1) == 1)
        ay__keeper_tell();
}

void ay__thread_begin(void)
{
    static bool tried; /* under the mutex */
    if (ay__thread != 0)
        return;
    ay__thread = ++ay__process.threads;
    if (!tried)
        can_count_users = pthread_key_create(&end_of_user, uncount_user) == 0;
    tried = true;
    if (can_count_users && pthread_setspecific(end_of_user, &users) == 0)
        atomic_fetch_add(&users, 1);
}

/* The first thread has ended: it is a zombie for as long as others run. */
static bool first_has_ended(void)
{
    char text[512];
    const int fd = descriptor_above_standard(open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state && strncmp(state, ") Z", 3) == 0;
}

static unsigned count_threads(void)
{
    unsigned count = 0;
    const int fd =
        descriptor_above_standard(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
    if (!tasks) {
        if (fd >= 0)
            close(fd);
        return UINT_MAX; /* in doubt there are others */
    }
    for (const struct dirent *task = readdir(tasks); task; task = readdir(tasks))
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Under the mutex. Of threads there are the first, which has ended, and ours. */
static bool is_alone(void)
{
    return first_has_ended() && count_threads() == 2 + ay__cluster_watchers();
}

/* As when the last thread of a program ends. What was blocked here, a signal to the process too, is
 * no longer. */
_Noreturn static void end_process(void)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    exit(EXIT_SUCCESS);
}

/* When to look whether anybody is left. */
static int64_t look_at_users(void)
{
    return atomic_load(&users) == 0 ? ay__now() + LOOK_ALONE_NS : INT64_MAX;
}

static void look_whether_alone(void)
{
    if (atomic_load(&users) != 0 || !lock_unless_ending())
        return;
    const bool alone = is_alone();
    pthread_mutex_unlock(&ay__process.mutex);
    if (alone)
        end_process();
}

/* Sleeps until the bell is rung, or a rival asks for a permission that this process retains
 * (recall.c): that is then taken back. If rivals can no longer be heard (the program has forbidden
 * itself futex_waitv), all is taken back, now and again; nothing new is retained then. */
static void rest(void)
{
    struct ay__waitv words[1 + RETAINED_MOST];
    const uint32_t rung = atomic_load(&bell);
    words[0] = (struct ay__waitv){
        .value = rung, .address = (uintptr_t)&bell, .flags = WAITV_32_BITS | WAITV_PRIVATE};
    if (atomic_load(&ay__process.retaining) == 0) {
        if (!atomic_load(&ending))
            ay__futex_sleep(words, 1, 0, look_at_users());
        return;
    }
    if (!lock_unless_ending())
        return;
    const unsigned count = 1 + ay__recall_words(words + 1);
    pthread_mutex_unlock(&ay__process.mutex);
    const bool hears = ay__futex_several();
    const int64_t until = hears ? look_at_users() : ay__now() + LOOK_AGAIN_NS;
    if ((ay__futex_sleep(words, hears ? count : 1, LOOK_AGAIN_NS, until) > 0 || !hears) &&
        lock_unless_ending()) {
        ay__recall_all();
        pthread_mutex_unlock(&ay__process.mutex);
    }
}

static void *keep(void *unused)
{
    (void)unused;
    if (syscall(SYS_set_robust_list, &head, sizeof head) != 0)
        keeper_error = errno;
    atomic_store(&keeper_tid, (uint32_t)syscall(SYS_gettid));
    futex(&keeper_tid, FUTEX_WAKE, 1);
    while (!atomic_load(&ending)) {
        rest();
        look_whether_alone();
    }
    return NULL;
}

/* With a stack of the default size: it must hold the program's thread-local data, however much that
 * is. */
static int create_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    /* the keeper inherits it: no handler of the program's runs there */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&keeper, NULL, keep, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int start(void)
{
    head.list.next = &head.list;
    head.list_op_pending = NULL;
    head.futex_offset = (long)ay__process.page + (long)offsetof(struct hot, life);
    atomic_store(&ending, false);
    keeper_error = 0;
    const int error = create_thread();
    if (error)
        return ay__fail(-error, "cannot start the keeper thread: %s", strerror(error));
    while (atomic_load(&keeper_tid) == 0)
        futex(&keeper_tid, FUTEX_WAIT, 0);
    if (keeper_error) {
        ay__keeper_end();
        return ay__fail(-keeper_error, "cannot set a robust list: %s", strerror(keeper_error));
    }
    return 0;
}

/* Plain pointers, one store each: only the kernel reads them meanwhile, and it reads what this
 * process stored, in order. */
static void link_after(struct robust_list *before, struct robust_list *next)
{
    __atomic_store_n(&before->next, next, __ATOMIC_RELEASE);
}

int ay__keeper_add(char *node, uint32_t *tid)
{
    assert_required(ay__mutex_is_held());
    if (ay__process.places >= LIST_MOST)
        return ay__fail(-EMFILE, "this process has %d regions open, the most it can", LIST_MOST);
    if (atomic_load(&keeper_tid) == 0) {
        const int error = start();
        if (error)
            return error;
    }
    struct robust_list *entry = (struct robust_list *)node;
    entry->next = head.list.next;
    link_after(&head.list, entry);
    *tid = atomic_load(&keeper_tid);
    ay__process.places++;
    return 0;
}

void ay__keeper_remove(char *node)
{
    struct robust_list *entry = (struct robust_list *)node, *before = &head.list;
    while (before->next != entry) {
        before = before->next;
        assert_invariant(K1, before != &head.list); /* it is linked */
    }
    link_after(before, entry->next);
    ay__process.places--;
}

void ay__keeper_tell(void)
{
    atomic_fetch_add(&bell, 1);
    futex(&bell, FUTEX_WAKE, 1);
}

void ay__keeper_end(void)
{
    if (atomic_load(&keeper_tid) == 0 || ay__process.places > 0)
        return;
    atomic_store(&ending, true);
    ay__keeper_tell();
    pthread_join(keeper, NULL);
    atomic_store(&keeper_tid, 0);
}

void ay__keeper_forget(void)
{
    atomic_store(&keeper_tid, 0);
    atomic_store(&users, ay__thread != 0 && can_count_users);
}
