/** Every bound of the room `worktree`, by name. */
export const LIMITS = {
  /** Oldest git with `merge-tree --write-tree`. */
  gitMajor: 2,
  gitMinor: 38,
  /** A call that reads a few objects. */
  shortTimeoutMs: 30_000,
  /** A call that may touch every file of a tree (add, checkout, clean, diff). */
  longTimeoutMs: 600_000,
  /** Waiting for the repository's metadata lock, beyond the holder's own deadline. */
  lockWaitMs: 1_200_000,
  /** Captured output of one call: 64 MiB. */
  outputMax: 67_108_864,
  /** Captured output of a call whose answer is short: 4 MiB. */
  shortOutputMax: 4_194_304,
  /** Another git process holds a `.lock` file: tries, and the pause between them. */
  gitLockTries: 5,
  gitLockPauseMs: 200,
  /** A folder that is busy while it is removed: tries, and the pause between them (doubled each time). */
  removeTries: 5,
  removePauseMs: 50,
  /** What a conflict report carries to the owner of the task. */
  conflictFiles: 50,
  conflictHunks: 20,
  conflictLines: 200,
  /** Commits of the integration branch that are looked at for who else changed a file in conflict. */
  landedCommits: 500,
  /** Difference that the survival check reads: 16 MiB; it is parsed in the supervisor's thread. */
  survivalMax: 16_777_216,
  /** What a lost-lines report carries. */
  lostLines: 20,
  /** Free names that are tried for a saved or restored ref, when others take them meanwhile. */
  savedTries: 20,
  /** Bytes of git's own message in an error. */
  stderrShown: 600,
} as const;
