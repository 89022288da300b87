import { expect, test } from 'vitest';
import { guardPath } from '../../../src/tools/index.ts';

function check(path: string, access: 'read' | 'write' = 'read'): string {
  const guarded = guardPath(path, { access, root: '/work/tree' });
  return guarded.ok ? guarded.path : `refused: ${guarded.reason}`;
}

test.each([
  ['src/a.js', 'src/a.js'],
  ['./src//a.js', 'src/a.js'],
  ['src/../lib/a.js', 'lib/a.js'],
  ['', ''],
  ['.', ''],
  ['/work/tree', ''],
  ['/work/tree/src/a.js', 'src/a.js'],
  ['.gitignore', '.gitignore'],
  ['.github/ci.yml', '.github/ci.yml'],
  ['src/git/.gitkeep', 'src/git/.gitkeep'],
  ['..a/b', '..a/b'],
  ['ähm/ü.txt', 'ähm/ü.txt'],
])('W1: %j is %j', (path, expected) => {
  expect(check(path)).toBe(expected);
  expect(check(path, 'write')).toBe(expected);
});

test.each([
  ['..', 'leads out'],
  ['a/../../b', 'leads out'],
  ['../tree/a', 'leads out'],
  ['/etc/passwd', 'outside'],
  ['/work/tree2/a', 'outside'],
  ['/work/tree/../x', 'leads out'],
  ['C:\\x', 'outside'],
  ['a\0b', 'NUL'],
  ['.git', 'protected'],
  ['.git/config', 'protected'],
  ['.GIT/hooks/pre-commit', 'protected'],
  ['.Git', 'protected'],
  ['./.git/HEAD', 'protected'],
  ['a/../.git/HEAD', 'protected'],
  ['.g\u200Cit/HEAD', 'protected'],
  ['.ｇｉｔ/HEAD', 'protected'],
  ['.git./HEAD', 'protected'],
  ['.git /HEAD', 'protected'],
  ['git~1/HEAD', 'protected'],
  ['.git::$INDEX_ALLOCATION/HEAD', 'protected'],
  ['vendor/sub/.git/config', 'protected'],
  ['/work/tree/.git/HEAD', 'protected'],
  ['.troupe', 'protected'],
  ['.troupe/policy.yaml', 'protected'],
  ['.TROUPE/config.yaml', 'protected'],
  ['.troupe/agents/../policy.yaml', 'protected'],
])('W1 W2: %j is refused: %s', (path, reason) => {
  expect(check(path)).toContain(`refused: `);
  expect(check(path)).toContain(reason);
  expect(check(path, 'write')).toContain('refused: ');
});

test.each(['.troupe/agents/ada.md', '.troupe/skills/x/SKILL.md'])(
  'W2: %s may be read, never written',
  (path) => {
    expect(check(path)).toBe(path);
    expect(check(path, 'write')).toContain('no tool may write there');
  },
);
