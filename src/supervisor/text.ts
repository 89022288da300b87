/** Texts cut to size, with a note of what was left out (nothing is cut silently, M8). */

/** The end of a text, whole lines, at most `max` characters; says that something was left out. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.floor(max / 3));
  const tail = text.slice(text.length - Math.floor((max * 2) / 3));
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`;
}
