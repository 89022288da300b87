/**
 * The ports: all that the product asks of the outside world. `platform` has the Node adapters, `testing` the memory
 * twins; both pass the same contract suites (`tests/contract`).
 */

export interface Clock {
  /** Wall clock, milliseconds since the epoch; may jump. */
  now(): number;
  /** Never goes back; for delays and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. Never keeps a process alive alone. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** `length` characters of `[0-9a-z]`. */
  id(length: number): string;
  /** An independent stream with a name, so that a new consumer does not shift old sequences. */
  fork(name: string): Random;
}

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
}

/** An open file. Not safe for use after `close`. */
export interface FileHandle {
  /**
   * Appends at the end with one system call; returns the bytes written, which may be fewer than asked.
   * Throws an error with a system `code` (`ENOSPC`, `EIO`) when nothing could be written.
   */
  write(bytes: Uint8Array): number;
  /** Up to `length` bytes from `position`; shorter at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** The content is on stable storage when it resolves (fdatasync; F_FULLFSYNC on macOS). */
  datasync(): Promise<void>;
  truncate(size: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** Files by absolute path. All rejections carry a system `code`. */
export interface Files {
  /** `append`: create when missing, write at the end. `create`: fail with EEXIST when it is there. `read`: read only. */
  open(path: string, mode: 'append' | 'create' | 'read'): Promise<FileHandle>;
  /**
   * The whole of a regular file, also behind a link. Never waits: a pipe, a socket or a device is `ENXIO`, a folder `EISDIR`,
   * and what is longer than `bytesMax` is `EFBIG`, also when it grows meanwhile.
   */
  readFile(path: string, bytesMax?: number): Promise<Uint8Array>;
  /** lstat: does not follow a link; null when missing. */
  stat(path: string): Promise<FileStat | null>;
  /** Names in a directory, sorted; rejects ENOENT when missing. */
  list(path: string): Promise<string[]>;
  /** With parents, mode 0700; no error when it exists. */
  makeDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Hard link; EEXIST when `to` exists. */
  link(from: string, to: string): Promise<void>;
  /** A file or a whole directory; no error when missing. */
  remove(path: string): Promise<void>;
  /** Makes created, renamed and removed entries of the directory durable. */
  syncDirectory(path: string): Promise<void>;
  /**
   * Calls back after something in `path` (a file or a directory) may have changed; may call once too often, never once
   * too few. Ends when the signal aborts.
   */
  watch(path: string, onChange: () => void, signal: AbortSignal): void;
}

/** Plain data to bytes and back: objects, arrays, Maps, Sets, bigints, bytes; what is one object in a value stays one. */
export interface Codec {
  /** Throws for what is not plain: a function, for one. */
  encode(value: unknown): Uint8Array;
  /** Throws for bytes that are not whole, or of a newer version of the platform. */
  decode(bytes: Uint8Array): unknown;
}

export interface ExecRequest {
  /** Program by absolute path or by name on `env.PATH`. Never a shell. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array | undefined;
  /** After it the process group is killed and `timedOut` is set. */
  readonly timeoutMs: number;
  /** Bytes kept of each stream; more is dropped and `truncated` set. */
  readonly outputMax: number;
}

export interface ExecResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
}

/** Who wrote a command: a model, a person in the team file, or a person in `worktree.setup`. */
export type SandboxProfile = 'actor' | 'team' | 'setup';

/** What a command is held to by the sandbox of the operating system. All paths are absolute. */
export interface SandboxRequest {
  readonly profile: SandboxProfile;
  /** The tree it works in, and whether it may write there. */
  readonly tree: string;
  readonly writable: boolean;
  /** The user's checkout, read-only. */
  readonly workspace: string;
  /** The common git directory, read-only. */
  readonly gitDirectory: string;
  /** Never seen inside: state, socket, the trees of others. */
  readonly closed: readonly string[];
  /** Names anywhere in the tree that are read-only, in lower case, whether they exist or not; `a/b` is `b` in a folder `a`. */
  readonly protect: readonly string[];
  /** Where what appeared under such a name is moved to after the command. */
  readonly setAside: string;
  /** Folders that a person opened besides; `~` is the home. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Hosts that a command of an agent reaches, through a proxy of ours (`hosts.ts`); left out or empty: no network. */
  readonly hosts?: readonly string[] | undefined;
}

/** What holds commands on this machine (permissions §2.14): 3 and 2 bubblewrap with and without a proxy, 0 nothing. */
export interface SandboxReport {
  readonly level: 0 | 2 | 3;
  /** For people: what it is, or why there is none. */
  readonly detail: string;
  /** The line to type to get more; null when nothing is missing. */
  readonly install: string | null;
}

export interface SpawnRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; the adapter adds nothing. */
  readonly env: Readonly<Record<string, string>>;
  /** stdout and stderr go straight to this file, interleaved as written, created 0600. */
  readonly outputPath: string;
  /** The tree is killed when the output grows past this; `overflow` is then set. */
  readonly outputMax: number;
  /**
   * Marks every descendant, so that strays can be found: `TROUPE_PROC=<run>/<id>` in its environment. When `env` has a
   * `TROUPE_SCOPE`, the marker is `<scope>/<run>/<id>`, and another scope's processes are never taken for its own.
   */
  readonly marker: string;
  /** Left out: the command has the rights of this process. A sandbox that can't be made is an error, never left out. */
  readonly sandbox?: SandboxRequest | undefined;
}

export interface SpawnExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly overflow: boolean;
  /** Descendants that were left when the leader ended and could not be ended; empty when all is gone. */
  readonly left: readonly number[];
  /** Protected names that the command made in its tree, and that were moved away. */
  readonly setAside?: readonly string[];
  /** Hosts that the sandbox did not let it reach; the first of them. */
  readonly refused?: readonly RefusedHost[];
}

export interface RefusedHost {
  /** What a person would add to `network.allow`. */
  readonly add: string;
  readonly why: string;
}

/** A running command with its descendants. */
export interface SpawnedProcess {
  readonly pid: number;
  /** Start time as the kernel tells it (`/proc/<pid>/stat` field 22, `ps -o lstart`), so that a reused pid is known. */
  readonly startedAt: string;
  /** Resolves when the leader has ended *and* its descendants are gone or named in `left`. Never rejects. */
  readonly exited: Promise<SpawnExit>;
  /** TERM to the whole tree, KILL after `graceMs`; idempotent. `exited` tells the end. */
  kill(graceMs: number): void;
}

export interface Exec {
  /** A short command with captured output; rejects only when the program can't be started (`ENOENT`, `EACCES`). */
  run(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult>;
  /** A command in a process group (and, where the platform has it, a process namespace) of its own; stdin closed. */
  spawn(request: SpawnRequest): Promise<SpawnedProcess>;
  /** Ends every process that still carries `marker` (or a marker that starts with it); returns those it could not end. */
  sweep(marker: string): Promise<readonly number[]>;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Logger {
  log(level: LogLevel, message: string, data?: Readonly<Record<string, unknown>>): void;
}
