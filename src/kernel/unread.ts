/** What a system code of reading a file means to people. */
export function whyNot(code: string, max: number): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    ENOTDIR: 'there is no such file',
    EISDIR: 'it is a folder',
    ENXIO: 'it is no regular file',
    EFBIG: `it is too large (at most ${max} bytes)`,
    EACCES: 'it may not be read',
    ELOOP: 'its links lead round in a circle',
  };
  return known[code] ?? `it can not be read (${code})`;
}
