import { expect, test } from 'vitest';
import { placesOf, treesUnder, userConfigFolder } from '../../../src/control/places.ts';

const REPOSITORY = { root: '/repo', commonDir: '/repo/.git', hash: 'abc' };

test('state lies in the git directory, trees in the state folder of the user', () => {
  expect(placesOf(REPOSITORY, { HOME: '/home/u' })).toEqual({
    workspace: '/repo',
    gitDir: '/repo/.git',
    state: '/repo/.git/troupe',
    runs: '/repo/.git/troupe/runs',
    spool: '/repo/.git/troupe/spool',
    supervisorFile: '/repo/.git/troupe/supervisor.json',
    token: '/repo/.git/troupe/token',
    trees: '/home/u/.local/state/troupe/trees/abc',
    userConfig: '/home/u/.config/troupe',
  });
});

test('XDG folders count when they are absolute', () => {
  const env = { HOME: '/home/u', XDG_STATE_HOME: '/state/', XDG_CONFIG_HOME: 'relative' };
  expect(placesOf(REPOSITORY, env).trees).toBe('/state/troupe/trees/abc');
  expect(userConfigFolder(env)).toBe('/home/u/.config/troupe');
});

test('another root of trees is absolute, under home, or relative to the workspace', () => {
  const at = { workspace: '/repo', hash: 'abc', home: '/home/u' };
  expect(treesUnder('/fast/disk/', at)).toBe('/fast/disk/abc');
  expect(treesUnder('~/trees', at)).toBe('/home/u/trees/abc');
  expect(treesUnder('../trees', at)).toBe('/trees/abc');
});
