/*
 * A program that runs another one on a system that lacks a layer: refuse LAYER PROGRAM ARGUMENT..., where the layer
 * is landlock, seccomp or limits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 3) return 64;
    /* landlock_create_ruleset; seccomp, and prctl with PR_SET_SECCOMP; prlimit64. */
    unsigned number = !strcmp(words[1], "landlock") ? 444 : !strcmp(words[1], "seccomp") ? SYS_seccomp : SYS_prlimit64;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number == SYS_seccomp ? SYS_prctl : number, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 70;
    execv(words[2], words + 2);
    return 71;
}
