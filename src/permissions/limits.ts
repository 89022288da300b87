/** Bounds of this room. */

/** Nesting of substitutions and shells in one command; deeper ones are refused as unreadable. */
export const SHELL_DEPTH_MAX = 16;
/** Characters of one command that are read; longer ones are refused as unreadable. */
export const COMMAND_MAX = 100_000;
