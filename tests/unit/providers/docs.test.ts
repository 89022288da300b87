import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseScript } from '../../../src/providers/index.ts';

const page = readFileSync(new URL('../../../docs/scripts.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? '');

test('the examples of docs/scripts.md are valid scripts', () => {
  expect(blocks).toHaveLength(2);
  const [whole, reactions] = blocks;
  expect(parseScript(whole ?? '', 'docs')).toMatchObject({ ok: true });
  const indented = (reactions ?? '').replaceAll(/^/gm, '    ');
  expect(parseScript(`version: 1\nsections:\n  - turns: []\n${indented}`, 'docs')).toMatchObject({
    ok: true,
  });
});

test('every key of a script is described', () => {
  const keys = ['actor', 'profile', 'task', 'when', 'on', 'turns', 'otherwise', 'text', 'calls'];
  for (const key of [...keys, 'delay', 'pace', 'usage', 'stop', 'fail', 'any', 'once']) {
    expect(page).toContain(`\`${key}\``);
  }
});
