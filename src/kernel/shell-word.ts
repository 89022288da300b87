/** Words of a POSIX shell. */

/** Single-quoted, so that nothing in it means anything. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quoted only where it must be: for lines that people read and type. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text);
}
