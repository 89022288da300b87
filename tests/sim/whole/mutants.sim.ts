/** Each fault that `npm run simulate:mutants` makes still has its place in the source, and only one. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wholeMutants } from './mutants.ts';

test.each(Object.entries(wholeMutants))('"%s" fits the source once', (_name, { edits }) => {
  for (const { file, anchor, instead } of edits) {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(text.split(anchor)).toHaveLength(2);
    expect(instead).not.toBe(anchor);
  }
});
