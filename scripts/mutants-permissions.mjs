#!/usr/bin/env node
/**
 * `npm run mutants:permissions [-- --only WORDS]`: each guard of the broker is broken once, and the test that is named for it
 * has to fail. Survivors are listed, and make the script fail.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { only: { type: 'string' } } });
const config = 'tests/sim/permissions/mutants-config.ts';
const folder = mkdtempSync(join(tmpdir(), 'troupe-mutants-'));

function vitest(file, mutant) {
  const out = join(folder, 'report.json');
  rmSync(out, { force: true });
  const args = ['run', '--config', config, '--reporter', 'json', '--outputFile', out, file];
  const env = { ...process.env, TROUPE_SEED: '1', TROUPE_MUTANT: mutant };
  const ran = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  try {
    const { testResults } = JSON.parse(readFileSync(out, 'utf8'));
    const tests = testResults.flatMap((one) => one.assertionResults);
    const failed = tests.filter(({ status }) => status === 'failed').map(({ title }) => title);
    // Without tests the file could not even be loaded: that is a broken patch.
    return { failed, count: tests.length, text: ran.stdout + ran.stderr };
  } catch {
    return { failed: [], count: 0, text: ran.stdout + ran.stderr };
  }
}

const listed = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'list', '--config', config, '--json'],
  {
    cwd: root,
    env: { ...process.env, TROUPE_MUTANT: '?' },
    encoding: 'utf8',
  },
);
const all = JSON.parse(/MUTANTS (.*)/.exec(listed.stdout + listed.stderr)?.[1] ?? '[]');
const wanted = all.filter(({ title }) => values.only === undefined || title.includes(values.only));
if (wanted.length === 0) {
  console.error(
    `mutants-permissions: there is no mutant with "${values.only}" in its name\n${listed.stderr}`,
  );
  process.exit(2);
}
const survivors = [];
for (const { title, test, name } of wanted) {
  const { failed, count, text } = vitest(test, title);
  const by = failed.find((one) => one.startsWith(name));
  if (by === undefined) survivors.push(title);
  const told =
    by !== undefined
      ? `caught by "${by}"`
      : `SURVIVED (${test}: ${count} tests, failed: ${failed.join('; ') || 'none'})`;
  console.log(`${title}: ${told}`);
  if (count === 0) console.log(text.slice(-1500));
}
rmSync(folder, { recursive: true });
console.log(`${wanted.length - survivors.length} of ${wanted.length} mutants caught`);
process.exit(survivors.length === 0 ? 0 : 1);
