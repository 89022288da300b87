/** Bounds of this room: whatever the input, a decision takes a bounded time. */

/** UTF-16 units of one command that are parsed; longer ones are searched for denied names and asked about. */
export const COMMAND_MAX = 65_536;
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
