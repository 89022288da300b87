/** For `npm run mutants:permissions`: the tests on a source in which one guard is broken. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';
import { guardMutants } from './guard-mutants.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const wanted = process.env['TROUPE_MUTANT'] ?? '';
const mutant = guardMutants[wanted];
if (wanted === '?') {
  const all = Object.entries(guardMutants).map(([title, { test, name }]) => ({
    title,
    test,
    name,
  }));
  console.log(`MUTANTS ${JSON.stringify(all)}`);
} else if (mutant === undefined) throw new Error(`there is no mutant "${wanted}"`);

const config: ViteUserConfig = {
  root,
  plugins: [
    {
      name: 'mutate',
      enforce: 'pre',
      transform(code: string, id: string) {
        const file = relative(root, id.split('?')[0] ?? id);
        const here = (mutant?.edits ?? []).filter((edit) => edit.file === file);
        if (here.length === 0) return null;
        return here.reduce((text, { anchor, instead }) => {
          const times = text.split(anchor).length - 1;
          if (times !== 1) throw new Error(`${file} has the anchor ${times} times: ${anchor}`);
          return text.replace(anchor, () => instead);
        }, code);
      },
    },
  ],
  test: {
    include: wanted === '?' ? [] : ['tests/**/*.{test,sim}.ts'],
    pool: 'threads',
    testTimeout: 120_000,
  },
};

export default config;
