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
 * The kernel walks 2048 nodes of a list. A process with more places has further keepers, which do
 * nothing but own a list each.
 *
 * If the program's threads have all ended (its first by pthread_exit), the keeper must not be what
 * keeps the process: it ends it, as the last thread would have. It looks for that, once a second,
 * only when no thread is left that has ever opened a space or a region, or entered one; the last of
 * these rings the bell.
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
    KEEPERS_MOST = AY_PLACES_MOST / LIST_MOST + 1,
    TRY_AGAIN_NS = 200 * 1000,
    LOOK_AGAIN_NS = 64 * 1000 * 1000,
    LOOK_ALONE_NS = 1000 * 1000 * 1000
};

/* What a node's memory holds; the kernel reads the first pointer. */
struct kept_place {
    struct robust_list list;
    struct robust_list *before; /* whose `next` it is */
    struct place_keeper *keeper;
};

struct place_keeper {
    struct robust_list_head head;
    _Atomic uint32_t tid; /* 0: not there, or not ready */
    unsigned places;      /* on its list; under the mutex */
    int error;            /* why it could not begin; 0: it has */
    pthread_t thread;
};

/* The first also takes back what is retained, and ends the process. Each is there if those before
 * it are; and stays until all end */
static struct place_keeper keepers[KEEPERS_MOST];
static unsigned keeper_count; /* under the mutex */
/* rung when the keeper has to look at `ending` and at the places again */
static _Atomic uint32_t bell;
static _Atomic uint32_t ending; /* 1: all keepers are to end. Under the mutex */
/* threads that have opened a space or a region, or entered one, and have not ended */
static _Atomic unsigned users;
static pthread_key_t end_of_user;
static bool can_count_users; /* set when the first thread is counted, under the mutex */

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
    ay__futex_begin_thread();
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
    return first_has_ended() &&
           count_threads() == 1 + keeper_count + ay__cluster_watchers() + ay__helpers_count();
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

/* The first looks after what there is to look after; the others are there. */
static void *keep(void *this)
{
    struct place_keeper *keeper = this;
    if (syscall(SYS_set_robust_list, &keeper->head, sizeof keeper->head) != 0)
        keeper->error = errno;
    atomic_store(&keeper->tid, (uint32_t)syscall(SYS_gettid));
    futex(&keeper->tid, FUTEX_WAKE, 1);
    while (!atomic_load(&ending)) {
        if (keeper != keepers) {
            futex(&ending, FUTEX_WAIT, 0);
            continue;
        }
        rest();
        look_whether_alone();
    }
    return NULL;
}

/* With a stack of the default size: it must hold the program's thread-local data, however much that
 * is. */
static int create_thread(struct place_keeper *keeper)
{
    sigset_t all, before;
    sigfillset(&all);
    /* the keeper inherits it: no handler of the program's runs there */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&keeper->thread, NULL, keep, keeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* One more. It is not waited for. Returns an errno. */
static int start(void)
{
    struct place_keeper *keeper = &keepers[keeper_count];
    *keeper = (struct place_keeper){
        .head = {.list.next = &keeper->head.list,
                 .futex_offset = (long)NODE_DISTANCE + (long)offsetof(struct hot, life)}};
    atomic_store(&ending, 0);
    const int error = create_thread(keeper);
    keeper_count += !error;
    return error;
}

static int await_ready(struct place_keeper *keeper)
{
    while (atomic_load(&keeper->tid) == 0)
        futex(&keeper->tid, FUTEX_WAIT, 0);
    if (!keeper->error)
        return 0;
    const int why = keeper->error;
    keeper->places = LIST_MOST; /* nobody is put on its list */
    ay__keeper_end();
    return ay__fail(-why, "cannot set a robust list: %s", strerror(why));
}

/* Plain pointers, one store each: only the kernel reads them meanwhile, and it reads what this
 * process stored, in order. */
static void link_after(struct robust_list *before, struct robust_list *next)
{
    __atomic_store_n(&before->next, next, __ATOMIC_RELEASE);
}

/* The one with room for another place; NULL: there is none. */
static struct place_keeper *with_room(void)
{
    for (unsigned which = 0; which < keeper_count; which++)
        if (keepers[which].places < LIST_MOST)
            return &keepers[which];
    return NULL;
}

/* If it cannot be started, ay__keeper_add() tries again, and says so. */
void ay__keeper_prepare(void)
{
    assert_required(ay__mutex_is_held());
    if (keeper_count == 0)
        start();
}

int ay__keeper_add(char *at, uint32_t *tid)
{
    assert_required(ay__mutex_is_held());
    struct place_keeper *keeper = with_room();
    if (!keeper && keeper_count == KEEPERS_MOST)
        return ay__fail(-EMFILE, "this process has %d regions open, the most it can",
                        KEEPERS_MOST * LIST_MOST);
    int error = keeper ? 0 : start();
    if (error)
        return ay__fail(-error, "cannot start the keeper thread: %s", strerror(error));
    if (!keeper)
        keeper = &keepers[keeper_count - 1];
    error = await_ready(keeper);
    if (error)
        return error;
    struct robust_list *head = &keeper->head.list, *first = head->next;
    struct kept_place *node = (struct kept_place *)at;
    *node = (struct kept_place){.list.next = first, .before = head, .keeper = keeper};
    if (first != head)
        ((struct kept_place *)first)->before = &node->list;
    link_after(head, &node->list);
    *tid = atomic_load(&keeper->tid);
    keeper->places++;
    ay__process.places++;
    return 0;
}

void ay__keeper_remove(char *at)
{
    const struct kept_place *node = (const struct kept_place *)at;
    struct place_keeper *keeper = node->keeper;
    assert_invariant(K1, node->before->next == &node->list); /* it is linked */
    if (node->list.next != &keeper->head.list)
        ((struct kept_place *)node->list.next)->before = node->before;
    link_after(node->before, node->list.next);
    keeper->places--;
    ay__process.places--;
}

void ay__keeper_tell(void)
{
    atomic_fetch_add(&bell, 1);
    futex(&bell, FUTEX_WAKE, 1);
}

void ay__keeper_end(void)
{
    if (keeper_count == 0 || ay__process.places > 0)
        return;
    atomic_store(&ending, 1);
    ay__keeper_tell();
    futex(&ending, FUTEX_WAKE, INT_MAX);
    for (unsigned which = 0; which < keeper_count; which++)
        pthread_join(keepers[which].thread, NULL);
    keeper_count = 0;
}

void ay__keeper_forget(void)
{
    keeper_count = 0;
    atomic_store(&users, ay__thread != 0 && can_count_users);
}
