/** Bounds of this room; each is told in the message that enforces it. */

/** Bytes of one file. */
export const FILE_BYTES_MAX: number = 1024 * 1024;
/** Uses of one alias that a file may expand to. */
export const ALIASES_MAX = 100;
/** Columns of indentation and list marks before a value: the YAML parser's cost grows with them. */
export const INDENT_MAX = 1_000;
/** Flow collections (`[`, `{`) opened one right after the other. */
export const FLOW_DEPTH_MAX = 100;
/** Mistakes of one file that are looked up in it, to sort them. */
export const FINDINGS_MAX = 300;
/** Problems of one file that are listed. */
export const PROBLEMS_MAX = 100;
export const DEFAULTS = {
  parallel: 4,
  turns: 60,
  depth: 2,
  fanout: 4,
  attempts: 2,
  gateTimeoutMs: 600_000,
  taskTimeoutMs: 1_800_000,
} as const;
/** Tasks that run at once: more threads and trees than that no machine is served by. */
export const PARALLEL_MAX = 256;
export const TURNS_MAX = 10_000;
export const DEPTH_MAX = 8;
export const FANOUT_MAX = 64;
export const RESTARTS_MAX = 100;
export const ATTEMPTS_MAX = 100;
export const RETRIES_MAX = 20;
export const TEAMMATES_MAX = 512;
export const FALLBACKS_MAX = 8;
/** A call waits for its hooks, so they are few and short. */
export const HOOKS_MAX = 32;
export const HOOK_TIMEOUT_MS = 10_000;
export const HOOK_TIMEOUT_MAX_MS = 120_000;
export const TOUCHES_MAX = 200;
/** Folders of a cone. */
export const SPARSE_MAX = 1_000;
/** Each is a whole checkout on the disk. */
export const POOL_MAX = 16;
export const GLOB_MAX = 1_024;
/** The longest delay a timer takes is 24.8 days. */
export const DURATION_MAX_MS: number = 24 * 24 * 3_600_000;
/** Tokens of a model's window: less than that holds no tools, more has no model. */
export const WINDOW_MIN = 2_000;
export const WINDOW_MAX = 100_000_000;
/** Share of the window at which a conversation is compacted. */
export const COMPACT_AT = 0.8;
export const COMPACT_AT_MIN = 0.2;
export const COMPACT_AT_MAX = 0.95;

/** Folders that a sandbox is opened for, for reading and for writing. */
export const SANDBOX_FOLDERS_MAX = 64;
/** Hosts that agents may reach from the sandbox. */
export const SANDBOX_HOSTS_MAX = 256;
