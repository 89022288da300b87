/** The mutants of the broker's guards fit the source as it is, and name tests that exist; `npm run mutants:permissions` runs them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guardMutants } from '../../sim/permissions/guard-mutants.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test.each(Object.entries(guardMutants))(
  '"%s" fits once and is caught by a test that there is',
  (_title, { edits, test: file, name }) => {
    for (const { file: source, anchor, instead } of edits) {
      expect(read(source).split(anchor).length - 1, `${source}: ${anchor}`).toBe(1);
      expect(instead).not.toBe(anchor);
    }
    expect(name.length).toBeGreaterThan(1);
    expect(read(file)).toContain(`'${name}`);
  },
);
