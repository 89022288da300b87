/** Bounds of this room: whatever the input, a decision takes a bounded time. */

/** UTF-16 units of one command that are parsed; longer ones are searched for denied names and asked about. */
export const COMMAND_MAX = 16_384;
/** What of a text that could not be read is searched for what the floor refuses. */
export const ROUGH_MAX = 65_536;
/** Bytes of a path in a call. */
export const PATH_MAX = 4_096;
/** Nesting of lists, substitutions and wrappers in one command that is followed. */
export const SHELL_DEPTH_MAX = 64;
/** Scripts within scripts (`bash -c`, `eval`, `trap`) that are read again. */
export const SCRIPT_DEPTH_MAX = 4;
/** Simple commands of one call that are looked at one by one; the text of a longer call is searched, and asked about. */
export const COMMANDS_MAX = 500;
/** Characters of one call that are searched as text, where they can't be read. */
export const SEARCHED_MAX = 150_000;
/** Words of one command. */
export const WORDS_MAX = 1_000;
/** Brackets and backquotes of one text; more of them are no program that a person reads. */
export const OPENERS_MAX = 1_500;
/** Nodes that are visited inside of words of one call. */
export const NODES_MAX = 5_000;
/** Folders a command may be in at once, as far as its `cd`s can be followed. */
export const FOLDERS_MAX = 8;
/** Words that one brace expansion is spelled out to. */
export const BRACES_MAX = 64;
/** Reasons and file uses that a decision keeps of one call. */
export const REASONS_MAX = 16;
/** Characters of a reason. */
export const REASON_CHARS_MAX = 300;

/**
 * Steps of one decision (`Reading.spend`), about two milliseconds: words, names of paths, and rules that are held against them.
 * What is left then is searched as text, and asked about; so nothing that is only long holds the supervisor.
 */
export const STEPS_MAX = 150_000;
/** What is charged for a word of a command or a name of a path before rules are looked at. */
export const STEPS_A_WORD = 8;
/** For each character of a word with braces. */
export const STEPS_A_BRACE = 40;
/** For a rule that is held against one of them. */
export const STEPS_A_RULE = 12;
/** Names in the paths of all files at all places that one call may use. */
export const NAMES_MAX = 20_000;

/** Paths of one call that the disk is asked about; of more, none is taken for what it is called. */
export const PATHS_LOOKED_AT_MAX = 256;

/** Bounds of a policy. */
export const RULES_MAX = 2_000;
export const TOKENS_MAX = 64;
export const GLOB_CHARS_MAX = 512;
export const BRACE_CHOICES_MAX = 64;
export const TESTS_MAX = 1_000;

/** Bounds of the queue of asks. */
export const ASK_TIMEOUT_MS: number = 10 * 60_000;
/** Share of its time after which those who watch are warned. */
export const ASK_WARN_SHARE: number = 0.8;
/** Asks that ended are remembered, so that a late answer is told who was first. */
export const ENDED_ASKS_KEPT: number = 1_000;
/** Lines about what a call touches that an ask shows. */
export const TOUCHES_MAX: number = 20;
/** Denials of one actor in a row, and in a run, after which the actor is paused. */
export const DENIALS_IN_A_ROW: number = 3;
export const DENIALS_IN_A_RUN: number = 20;

/** Bounds of grants. */
export const GRANT_DAYS: number = 7;
export const GRANT_DAYS_MAX: number = 90;
/** Not used for so long, it lapses. */
export const GRANT_UNUSED_MS: number = 30 * 24 * 60 * 60_000;
/** How exactly the last use of a grant is kept. */
export const GRANT_USE_STEP_MS: number = 60 * 60_000;
/** Rules that one grant may hold. */
export const GRANT_RULES_MAX: number = 8;
