/** Every bound of room `platform`. */

/** Node's timers hold 31 bits. */
export const TIMER_MS_MAX: number = 2 ** 31 - 1;

/** After the end of a captured command: how long its pipes may stay open in the hands of a stray before they are cut. */
export const DRAIN_MS: number = 250;

/** How often the size of a command's output file is looked at; more often when it grows fast. */
export const OUTPUT_WATCH_MS: number = 50;
export const OUTPUT_WATCH_MIN_MS: number = 4;

/** Without a namespace: how often the descendants of a command are noted, so that one which leaves is still known. */
export const SNAPSHOT_MS: number = 250;

/** How long killed processes may take to be gone before they are named as left (a process in state D can't be ended). */
export const GONE_MS: number = 5000;

/** Looks at the process table that must find nothing on end before it is believed. */
export const QUIET_LOOKS: number = 3;

/** How often the table is read again because a process was in the middle of an `execve`. */
export const EXEC_LOOKS_MAX: number = 50;

/** How long a wrapper (bwrap, unshare) may take until it has started the command. */
export const WRAPPER_START_MS: number = 10_000;

/** How long after the end of a command the next namespace is made. */
export const STANDBY_AFTER_MS = 10;

/** How old a namespace that stands ready may get: it does not see what was mounted since. */
export const STANDBY_MS_MAX = 60_000;

/** How long `ps` may take on platforms without /proc, and how much it may print. */
export const PS_MS: number = 10_000;
export const PS_BYTES_MAX: number = 32 * 1024 * 1024;

/** Rounds of a contest for the lock; each lost round means that somebody else moved. */
export const LOCK_ROUNDS_MAX: number = 200;

/** Rounds after which one of several living holders is named as the holder: they may be containers that died. */
export const UNSETTLED_ROUNDS: number = 20;

/** Bytes of a socket's path: the kernel's own bound is 108 on Linux and 104 on macOS, with its closing NUL. */
export const SOCKET_PATH_BYTES_MAX: number = 100;

/** Characters of a line of the log; a longer one loses its data. */
export const LOG_LINE_MAX: number = 64 * 1024;

/** Links followed on the way to one file, and folders on that way. */
export const LINKS_MAX: number = 40;
export const PATH_PARTS_MAX: number = 200;

/** Size up to which a file that a rule pins is hashed. */
export const HASHED_BYTES_MAX: number = 8 * 1024 * 1024;

/** Size up to which a whole file is read at once. */
export const READ_BYTES_MAX: number = 32 * 1024 * 1024;

/** Of a command in the sandbox: processes and threads; blocks of 512 bytes in one file (32 GiB); what the kernel ends first. */
export const SANDBOX_PROCESSES: number = 4096;
export const SANDBOX_FILE_BLOCKS: number = 64 * 1024 * 1024;
/** Folders of a tree that are looked at for protected names, before and after a command; and how many in one go. */
export const SANDBOX_WALK_FOLDERS: number = 3000;
export const SANDBOX_WALK_TURN: number = 64;
export const SANDBOX_OOM_SCORE: number = 500;

/** How long the sandbox may take to be tried out, and what of its complaints is read. */
export const SANDBOX_PROBE_MS: number = 10_000;
export const SANDBOX_PROBE_BYTES: number = 16 * 1024;
/** One page of the web: its size, the time for all of it, and how often it may send us on. */
export const WEB_BYTES_MAX: number = 5 * 1024 * 1024;
export const WEB_MS_MAX = 30_000;
export const WEB_REDIRECTS_MAX = 5;

/** The proxy of one command: connections at once, time to connect, silence, and hosts that it is told were refused. */
export const EGRESS_CONNECTIONS_MAX = 64;
export const EGRESS_DIAL_MS = 15_000;
export const EGRESS_IDLE_MS: number = 5 * 60_000;
export const EGRESS_REFUSED_MAX = 16;
