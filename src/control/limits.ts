/** Limits of the room. */

/** How often one who waits for the first run of a repository looks. */
export const FIRST_RUN_LOOK_MS = 250;

/** Lines of a command's output that are shown with its task. */
export const OUTPUT_LINES = 20;
