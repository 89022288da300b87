/** Texts cut to size, with a note of what was left out (nothing is cut silently, M8). */

/** The end of a text, whole lines, at most `max` characters; says that something was left out. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.floor(max / 3));
  const tail = text.slice(text.length - Math.floor((max * 2) / 3));
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`;
}

/** From 0 to 1; of the text itself, so that a decision needs no chance: what failed together must not come again together. */
export function jitterOf(text: string): number {
  let hash = 2166136261;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return (hash >>> 0) / 2 ** 32;
}
