import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32, crcText } from '../../../src/journal/crc32.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('J2: the crc is the one of zlib, from any seed, at any length and offset', () => {
  expect(crcText(crc32(bytes('123456789'), 0, 9, 0))).toBe('cbf43926');
  const random = new SeededRandom('crc');
  for (let length = 0; length < 70; length += 1) {
    const content = Uint8Array.from({ length: length + 5 }, () => random.below(256));
    const seed = random.below(2 ** 32);
    const part = content.subarray(3, 3 + length);
    expect(crc32(content, 3, 3 + length, seed)).toBe(zlib.crc32(part, seed));
  }
});

test('J2: it can be continued piece by piece', () => {
  const content = bytes('a chain of records, one after the other');
  const half = crc32(content, 0, 11, 0);
  expect(crc32(content, 11, content.length, half)).toBe(crc32(content, 0, content.length, 0));
});
