import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, makeLineSplitter } from '../../../src/ipc/lines.ts';

/** All lines of what came so far, bounded. */
function makePush(lineMax: number): (bytes: Uint8Array) => Line[] {
  const splitter = makeLineSplitter();
  return (bytes) => {
    splitter.push(bytes);
    const lines: Line[] = [];
    for (let line = splitter.next(lineMax); line !== null; line = splitter.next(lineMax)) {
      lines.push(line);
    }
    return lines;
  };
}

test('lines come out the same however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 8 }),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 20 }),
      (texts, cuts) => {
        const lines = texts.map((text) => JSON.stringify(text));
        const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
        const push = makePush(1_000);
        const seen: string[] = [];
        let at = 0;
        for (let cut = 0; at < bytes.length; cut += 1) {
          const size = (cuts[cut % cuts.length] ?? 0) + 1;
          for (const line of push(bytes.subarray(at, at + size))) {
            if (line.kind === 'line') seen.push(line.text);
          }
          at += size;
        }
        expect(seen).toEqual(lines);
      },
    ),
    { numRuns: 200 },
  );
});

test('U+2028 is text, empty lines are nothing, an unfinished line waits', () => {
  const bytes = makePush(100);
  const push = (text: string): unknown => bytes(new TextEncoder().encode(text));
  expect(push('a\u2028b\n\n  \nrest')).toEqual([{ kind: 'line', text: 'a\u2028b' }]);
  expect(push(' of it\n')).toEqual([{ kind: 'line', text: 'rest of it' }]);
});

test('past the bound nothing is kept and nothing comes any more', () => {
  const bytes = makePush(4);
  const push = (text: string): unknown => bytes(new TextEncoder().encode(text));
  expect(push('1234\n')).toEqual([{ kind: 'line', text: '1234' }]);
  expect(push('123')).toEqual([]);
  expect(push('45')).toEqual([{ kind: 'too-long' }]);
  expect(push('x\ny\n')).toEqual([]);
});
