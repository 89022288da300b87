/** Limits of the room. */

/** How often one who waits for the first run of a repository looks. */
export const FIRST_RUN_LOOK_MS = 250;

/** Lines of a command's output that are shown with its task. */
export const OUTPUT_LINES = 20;
/** Entries of one folder of profiles or skills that are read. */
export const ENTRIES_MAX = 200;
/** Bytes of a file in them; what is larger was not written by hand. */
export const SMALL_BYTES_MAX: number = 4 * 1024 * 1024;

/** Bytes of one policy file, and files of the administrator that are read. */
export const POLICY_BYTES_MAX: number = 1024 * 1024;
export const POLICY_FILES_MAX = 64;

/** Files of a repository that can be trusted, folders deep, and bytes of each. */
export const TRUST_FILES_MAX = 500;
export const TRUST_DEPTH_MAX = 8;
export const TRUST_BYTES_MAX: number = 1024 * 1024;
/** Of the person's own programs that `troupe pr --create` runs. */
export const TOOL_TIMEOUT_MS: number = 5 * 60_000;
export const TOOL_OUTPUT_MAX: number = 1024 * 1024;

/** Bytes of a file that are read at once for an export. */
export const EXPORT_PIECE_BYTES: number = 256 * 1024;
/** Rows of one answer unless another number is asked for, and characters after which it ends all the same. */
export const PAGE_ROWS = 200;
export const PAGE_BYTES: number = 1024 * 1024;
/** After so long a run that was taken up is taken to be no cause of its supervisor's death. */
export const TAKE_UP_HEALTHY_MS: number = 10 * 60_000;
/** Takings-up in a row from which on a run is taken up alone, and after which it is left alone. */
export const TAKE_UP_SUSPECT = 3;
export const TAKE_UP_TRIES = 5;
export const TAKE_UP: { readonly probationMs: number; readonly pausesMs: readonly number[] } = {
  /** How long a suspect goes on before the next one is taken up. */
  probationMs: 15_000,
  /** Before each further try to take up a run whose journal or settings could not be used. */
  pausesMs: [1_000, 5_000],
};
