import { expect, test } from 'vitest';
import { commandAt, hintAt } from '../../../src/cli/next.ts';
import { shellWord } from '../../../src/kernel/shell-word.ts';

const at = (workspace: string | undefined, cwd: string) => ({ workspace, cwd });

test('a command names the workspace that was given, when the person is elsewhere', () => {
  const line = 'troupe resume r1';
  expect(commandAt(at(undefined, '/home/u'), line)).toBe(line);
  expect(commandAt(at('/repo', '/repo/deep/down'), line)).toBe(line);
  expect(commandAt(at('.', '/repo'), line)).toBe(line);
  expect(commandAt(at('..', '/repo/deep'), line)).toBe(line);
  expect(commandAt(at('/repo', '/repo-2'), line)).toBe('troupe resume r1 --workspace /repo');
  expect(commandAt(at('my repo', '/home/u'), line)).toBe("troupe resume r1 --workspace 'my repo'");
  expect(commandAt(at('/repo', '/'), 'troupe run --help')).toBe('troupe run --help');
});

test('so does each command in a hint, and nothing else', () => {
  const hint = 'See `troupe runs`, or `git log`; `troupe run --help` tells more about troupe.';
  expect(hintAt(at('/repo', '/'), hint)).toBe(
    'See `troupe runs --workspace /repo`, or `git log`; `troupe run --help` tells more about troupe.',
  );
});

test('words are quoted for a shell only when they must be', () => {
  expect(['a/b.txt', "it's", ''].map(shellWord)).toEqual(['a/b.txt', "'it'\\''s'", "''"]);
});
