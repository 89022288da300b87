/** Bounds of the room `skills`; the first three are the specification's. */

export const NAME_CHARS_MAX = 64;
export const DESCRIPTION_CHARS_MAX = 1024;
export const COMPATIBILITY_CHARS_MAX = 500;
/** Lines of a body that the specification recommends at most. */
export const BODY_LINES_ADVISED = 500;
/** Of a SKILL.md; a longer one is not loaded. */
export const SKILL_BYTES_MAX: number = 128 * 1024;
/** Skills that are known at once. */
export const SKILLS_MAX = 200;
/** Files beside a SKILL.md that are told of, how deep they may lie, and how large all of them may be. */
export const BUNDLED_MAX = 200;
export const BUNDLED_DEPTH_MAX = 4;
export const BUNDLED_BYTES_MAX: number = 16 * 1024 * 1024;
/** Names and descriptions in a system prompt; about a quarter as many tokens. */
export const CATALOGUE_CHARS_MAX = 12_000;
