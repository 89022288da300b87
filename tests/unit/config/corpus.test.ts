import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { BUILT_IN_PROFILES, formatProblem, parseTeam } from '../../../src/config/index.ts';
import { checkPolicy } from '../../../src/permissions/index.ts';
import { validateTasks } from '../../../src/tasks/index.ts';

const corpus = fileURLToPath(new URL('../../corpus/team/', import.meta.url));

test.each(readdirSync(corpus).filter((file) => file.endsWith('.yaml')))(
  'F1 F2 F3: %s is refused with a place for every problem',
  async (file) => {
    const parsed = parseTeam(new Uint8Array(readFileSync(corpus + file)), {
      checkTasks: validateTasks,
      checkPolicy,
      tools: ['bash', 'read_file'],
      skills: { known: ['review', 'summarize'], untrusted: [] },
    });
    if (parsed.kind === 'ok') throw new Error(`${file} is accepted`);
    const lines = parsed.problems.map((problem) => formatProblem(file, problem));
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(
      `${corpus}${file.replace('.yaml', '.txt')}`,
    );
    for (const problem of parsed.problems) {
      expect(problem.line).toBeGreaterThan(0);
      expect(problem.column).toBeGreaterThan(0);
    }
  },
);

test('the corpus knows the built-in profiles', () => {
  expect(Object.keys(BUILT_IN_PROFILES)).toEqual([
    'lead',
    'implementer',
    'reviewer',
    'planner',
    'explorer',
  ]);
});
