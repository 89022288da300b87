/** Bounds of the room `tools`. Each is told to the model where it bites; nothing is cut in silence. */

/** A longer result goes to an output file; head and tail stay in the conversation. */
export const RESULT_BYTES_MAX: number = 16 * 1024;
export const RESULT_HEAD_BYTES: number = 10 * 1024;
export const RESULT_TAIL_BYTES: number = 5 * 1024;

/** Files that `edit_file` takes, and that `read_file` holds whole; larger ones it reads through in pieces. */
export const FILE_BYTES_MAX: number = 10 * 1024 * 1024;
/** What one `read_file` shows at most. */
export const READ_LINES_MAX = 2000;
export const READ_BYTES_MAX: number = 15 * 1024;
export const LINE_CHARS_MAX = 2000;
export const PIECE_BYTES: number = 1024 * 1024;
/** So long `read_file` looks for its first line, and so far for the end of a line. */
export const READ_MS_MAX = 10_000;
export const LINE_BYTES_MAX: number = 8 * 1024 * 1024;
/** A file with a NUL in its first bytes is binary. */
export const BINARY_PROBE_BYTES = 8192;
/** Content of one `write_file`. */
export const WRITE_CHARS_MAX: number = 5 * 1024 * 1024;

/** Of one `multi_edit`. */
export const EDITS_MAX = 100;

export const LIST_ENTRIES_MAX = 1000;
export const GLOB_PATHS_MAX = 1000;
/** Entries that one walk looks at. */
export const WALK_ENTRIES_MAX = 50_000;
export const WALK_DEPTH_MAX = 64;
/** Longest work without a turn of the event loop, but for a single file. */
export const BREATH_MS = 20;

export const GREP_MATCHES_MAX = 200;
export const GREP_FILE_BYTES_MAX: number = 2 * 1024 * 1024;
export const GREP_LINE_CHARS = 400;
export const GREP_CONTEXT_MAX = 20;
export const GREP_MS_MAX = 10_000;
/** One file under one pattern. */
export const GREP_FILE_MS_MAX = 1000;
export const PATTERN_CHARS_MAX = 1000;

/** Line numbers listed when an edit's text is there more than once. */
export const MATCH_LINES_SHOWN = 10;

export const BASH_TIMEOUT_MS_MAX: number = 30 * 60_000;
/** Of a command in the background. */
export const BACKGROUND_MS_MAX: number = 2 * 60 * 60_000;

export const URL_CHARS_MAX = 4096;

export const SKILL_ARGUMENTS_CHARS_MAX = 20_000;
/** Together they stay below what a record holds of one call. */
export const TODO_ITEMS_MAX = 50;
export const TODO_CHARS_MAX = 300;
export const NOTE_CHARS_MAX = 4000;
export const FOCUS_CHARS_MAX = 1000;
/** `check_inbox` shows so many messages that wait, so many that were seen, and so much of each. */
export const INBOX_ROWS = 20;
export const INBOX_CHARS = 120;
/** Of a fact that is remembered. */
export const MEMORY_CHARS_MAX = 2_000;

/** Of the prompt of a job that an agent makes. */
export const JOB_PROMPT_MAX: number = 16 * 1024;
