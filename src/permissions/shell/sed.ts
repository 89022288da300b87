/**
 * Is a sed script harmless? Only printing, deleting, quitting, moving between the spaces and plain `s` are; all that reads
 * or writes files or runs commands (`r R w W e`, the flags `w` and `e` of `s`) is not, nor is anything not understood.
 */

/** Null: harmless. Else why not. */
export function sedHazard(script: string): string | null {
  let at = 0;
  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = at;
    at += pattern.exec(script)?.[0].length ?? 0;
  };
  while (at < script.length) {
    skip(/[\s;{}]*/y);
    if (at >= script.length) return null;
    if (script[at] === '#') {
      skip(/[^\n]*/y);
      continue;
    }
    for (let address = 0; address < 2; address += 1) {
      const end = afterAddress(script, at);
      if (end === null) return 'an address of the sed script is not understood';
      at = end;
      skip(/\s*/y);
      if (script[at] !== ',') break;
      at += 1;
      skip(/\s*/y);
    }
    skip(/[\s!]*/y);
    const command = script[at] ?? '';
    at += 1;
    if (command === '' || '{}'.includes(command) || 'pdPDgGhHxnN=z'.includes(command)) continue;
    if (command === 'q' || command === 'Q') {
      skip(/\s*\d*/y);
    } else if (command === 's' || command === 'y') {
      const end = afterSubstitution(script, at);
      if (end === null) return `the sed command ${command} is not understood`;
      at = end;
      skip(/[gpiIM0-9]*/y);
    } else return `the sed command ${command} may read, write or run something`;
    skip(/[ \t]*/y);
    if (at < script.length && !'\n;}#'.includes(script[at] ?? '')) {
      return 'the sed script has something that is not understood';
    }
  }
  return null;
}

function afterAddress(script: string, from: number): number | null {
  const simple = /(\d+(~\d+)?|\$|[+~]\d+)?/y;
  simple.lastIndex = from;
  const length = simple.exec(script)?.[0].length ?? 0;
  if (length > 0) return from + length;
  const first = script[from];
  if (first !== '/' && first !== '\\') return from;
  const start = first === '/' ? from + 1 : from + 2;
  const end = afterPart(script, start, script[start - 1] ?? '');
  if (end === null) return null;
  const flags = /[IM]*/y;
  flags.lastIndex = end;
  return end + (flags.exec(script)?.[0].length ?? 0);
}

function afterSubstitution(script: string, from: number): number | null {
  const mark = script[from] ?? '';
  if (mark === '' || mark === '\\' || mark === '\n') return null;
  const middle = afterPart(script, from + 1, mark);
  return middle === null ? null : afterPart(script, middle, mark);
}

/** Behind the next `mark` that is not escaped. A `[` could hide one: then nothing is certain. */
function afterPart(script: string, from: number, mark: string): number | null {
  if (mark === '') return null;
  for (let at = from; at < script.length; at += 1) {
    const char = script[at];
    if (char === '\\') at += 1;
    else if (char === mark) {
      const part = script.slice(from, at);
      return /\[[^\]]*$/.test(part) ? null : at + 1;
    } else if (char === '\n') return null;
  }
  return null;
}

/** Files a script that is not harmless names for writing or reading, as far as they can be seen. */
export function sedFiles(script: string): string[] {
  return [...script.matchAll(/(?:^|[\s;{}/|,#!\d$gpiIMe])[wWrR]\s+([^\n;}]+)/g)].map((match) =>
    (match[1] ?? '').trim(),
  );
}
