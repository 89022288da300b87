#!/usr/bin/env node
/**
 * `npm run simulate:mutants [-- --only WORDS] [--seeds N]`: the source is broken at one place at a time, and the simulation has
 * to notice. Survivors are listed, and make the script fail.
 */
import defaults from 'node:events';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: { only: { type: 'string' }, seeds: { type: 'string', default: '600' } },
});
defaults.defaultMaxListeners = 0;

async function load(entry, edits) {
  const left = new Set(edits);
  const mutate = (id) => {
    const file = relative(root, id);
    const here = [...left].filter((edit) => edit.file === file);
    if (here.length === 0) return null;
    let code = readFileSync(id, 'utf8');
    for (const edit of here) {
      if (code.split(edit.anchor).length !== 2)
        throw new Error(`${file}: not once: ${edit.anchor}`);
      code = code.replace(edit.anchor, () => edit.instead);
      left.delete(edit);
    }
    return { code, moduleType: 'ts' };
  };
  const plugins = [{ name: 'mutate', load: mutate }];
  const { main } = await bundle({ main: entry }, { logLevel: 'silent', plugins });
  if (left.size > 0) throw new Error(`not built: ${[...left].map(({ file }) => file).join()}`);
  return main;
}

const { wholeMutants } = await load('tests/sim/whole/mutants.ts', []);
const wanted = Object.entries(wholeMutants).filter(([name]) => name.includes(values.only ?? ''));
if (wanted.length === 0) {
  console.error(`simulate-mutants: there is no mutant with "${values.only}" in its name`);
  process.exit(2);
}
const survivors = [];
for (const [name, { edits, profile }] of wanted) {
  const { simulate } = await load('tests/sim/whole/simulate.ts', edits);
  let caught = null;
  for (let index = 1; index <= Number(values.seeds) && caught === null; index += 1) {
    const { violation } = await simulate(`mutant.${index}`, profile);
    if (violation !== null) caught = `seed ${index} of ${profile}: ${violation.split('\n')[0]}`;
  }
  if (caught === null) survivors.push(name);
  console.log(`${name}: ${caught === null ? 'SURVIVED' : `caught by ${caught}`}`);
}
console.log(`${wanted.length - survivors.length} of ${wanted.length} mutants caught`);
process.exit(survivors.length === 0 ? 0 : 1);
