"""The system calls that each kind of user code may make."""

import errno

from . import bpf
from .bpf import ArgumentCheck, SyscallArgument

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_TYPE = 1, 0xF
_FIONBIO, _FIOCLEX, _FIONREAD = 0x5421, 0x5451, 0x541B
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_CLONE_THREAD = 0x10000
# All namespaces that clone could create: mount, cgroup, uts, ipc, user, pid, net, time.
_NEW_NAMESPACES = 0x7E020080


def _names(text: str) -> list[str]:
    return text.split()


# For programs that only compute on their input: no path, no process, no address.
_COMPUTING = _names("""
    read write readv writev pread64 pwrite64 lseek close close_range fstat dup dup2 dup3 pipe pipe2
    mmap munmap mremap mprotect madvise brk membarrier
    futex sched_yield sched_getaffinity getcpu set_robust_list rseq
    rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getitimer setitimer alarm
    timerfd_create timerfd_settime
    getrandom getpid gettid getppid getuid geteuid getgid getegid getrusage times uname sysinfo getrlimit
    poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2
    sendto recvfrom shutdown getsockname getsockopt setsockopt
    exit exit_group
""")

_READING = _names("""
    open openat openat2 stat lstat newfstatat statx statfs fstatfs access faccessat faccessat2
    readlink readlinkat getdents getdents64 getcwd
""")

_WRITING = _names("""
    creat chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink
    symlinkat chmod fchmod fchmodat truncate ftruncate fallocate fsync fdatasync utimensat umask flock
    copy_file_range sendfile fadvise64 preadv pwritev
""")

_COMPUTING_CHECKS = (
    # A pair of datagram sockets could still send to any other socket of the machine.
    ArgumentCheck(
        "socketpair", (SyscallArgument(0, (_AF_UNIX,)), SyscallArgument(1, (_SOCK_STREAM,), _SOCK_TYPE))
    ),
    ArgumentCheck("ioctl", (SyscallArgument(1, (_FIONBIO, _FIOCLEX, _FIONREAD)),), errno.ENOTTY),
    # Duplicates, flags, locks, pipe sizes and seals; F_SETOWN would let a descriptor signal other processes.
    ArgumentCheck("fcntl", (SyscallArgument(1, (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031, 1032, 1033, 1034)),)),
    ArgumentCheck("prlimit64", (SyscallArgument(0, (0,)),)),
    ArgumentCheck("prctl", (SyscallArgument(0, (_PR_SET_NAME, _PR_GET_NAME)),)),
)
_THREADS = ArgumentCheck("clone", (SyscallArgument(0, (_CLONE_THREAD,), _CLONE_THREAD | _NEW_NAMESPACES),))

_DANGEROUS = _names("""
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd
    unshare setns mount umount2 pivot_root chroot
    fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr
    bpf userfaultfd perf_event_open keyctl add_key request_key
    io_uring_setup io_uring_enter io_uring_register
    kexec_load kexec_file_load init_module finit_module delete_module
    open_by_handle_at name_to_handle_at quotactl quotactl_fd syslog acct swapon swapoff reboot
    settimeofday clock_settime clock_adjtime adjtimex iopl ioperm
    mknod mknodat memfd_create memfd_secret vhangup lookup_dcookie fanotify_init fanotify_mark
    move_pages migrate_pages shmget semget msgget
    setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
""")


def for_computing() -> bytes:
    """Return the filter for the host of a WebAssembly guest with one process per call."""
    return bpf.build_allow_filter(_COMPUTING, _COMPUTING_CHECKS)


def for_computing_with_threads() -> bytes:
    """Return the filter for the host of a WebAssembly guest that reads library files; Landlock says which.

    Its engine calls mkdir to ensure that the library's folder exists; Landlock prevents it from creating any.
    """
    return bpf.build_allow_filter(
        [*_COMPUTING, *_READING, "mkdir", "mkdirat", "recvmsg"], (*_COMPUTING_CHECKS, _THREADS)
    )


def for_functions() -> bytes:
    """Return the filter for an interpreter that sees only itself and an empty folder, without threads."""
    return bpf.build_allow_filter([*_COMPUTING, *_READING, *_WRITING], _COMPUTING_CHECKS)


def for_programs() -> bytes:
    """Return the filter for any program with its own processes inside its own namespaces."""
    families = ArgumentCheck(
        "socket", (SyscallArgument(0, (_AF_UNIX, _AF_INET, _AF_INET6)),), errno.EAFNOSUPPORT
    )
    processes = ArgumentCheck("clone", (SyscallArgument(0, (0,), _NEW_NAMESPACES),))
    return bpf.build_deny_filter(_DANGEROUS, (families, processes))
