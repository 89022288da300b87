import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseTeam } from '../../../src/config/index.ts';
import { checkPolicy } from '../../../src/permissions/index.ts';
import { parseSkill } from '../../../src/skills/index.ts';
import { validateTasks } from '../../../src/tasks/index.ts';
import { TOOL_NAMES } from '../../../src/tools/index.ts';

const folder = fileURLToPath(new URL('../../../skills/', import.meta.url));
const read = (path: string): string => readFileSync(folder + path, 'utf8');

test('Troupe brings these skills', () => {
  expect(readdirSync(folder)).toEqual(['init', 'orchestrate', 'review', 'summarize', 'write-team']);
});

test.each(readdirSync(folder))(
  '%s is as the specification says, and names what there is',
  (name) => {
    const parsed = parseSkill(read(`${name}/SKILL.md`), name);
    expect(parsed.problems).toEqual([]);
    expect(parsed.advice).toEqual([]);
    const words = [...(parsed.skill?.body ?? '').matchAll(/`([a-z]+_[a-z_]+)`/g)].map(
      ([, word]) => word,
    );
    // Not yet in this room, or told by another one.
    const others = ['memory_append', 'memory_read', 'node_modules'];
    expect(
      words.filter((word) => !TOOL_NAMES.includes(word ?? '') && !others.includes(word ?? '')),
    ).toEqual([]);
    for (const [, path] of (parsed.skill?.body ?? '').matchAll(/\]\(([\w./-]+)\)/g)) {
      expect(read(`${name}/${path}`).length).toBeGreaterThan(0);
    }
  },
);

test('the team file that write-team shows is one', () => {
  const [, yaml = ''] =
    /```yaml\n([\s\S]*?)```/.exec(read('write-team/references/team-file.md')) ?? [];
  const parsed = parseTeam(yaml, {
    checkTasks: validateTasks,
    checkPolicy,
    tools: TOOL_NAMES,
    skills: { known: readdirSync(folder), untrusted: [] },
  });
  expect(parsed.kind === 'ok' ? [] : parsed.problems).toEqual([]);
});
