/** P20, P21: the arguments of bubblewrap, from facts. Later arguments lie over earlier ones, so their order is what is tested. */
import { describe, expect, it } from 'vitest';
import { type SandboxFacts, sandboxArguments } from '../../../src/platform/sandbox-profile.ts';

const FACTS: SandboxFacts = {
  emptied: ['/home/u', '/tmp', '/home'],
  readable: ['/home/u/.nvm', '/home/u/app', '/home/u/app/.git'],
  writable: [],
  closed: ['/home/u/app/.git/troupe', '/home/u/.local/state/troupe/trees/h'],
  blanked: ['/home/u/app/.env'],
  tree: '/home/u/.local/state/troupe/trees/h/r/t',
  treeWritable: true,
  locked: ['/home/u/.local/state/troupe/trees/h/r/t/.git'],
  network: false,
  proxy: null,
  cwd: '/home/u/.local/state/troupe/trees/h/r/t',
};

/** Where the words begin in the arguments. */
function placeOf(args: readonly string[], ...words: readonly string[]): number {
  const at = args.findIndex((_, index) => words.every((word, i) => args[index + i] === word));
  expect(at, words.join(' ')).toBeGreaterThanOrEqual(0);
  return at;
}

describe('the arguments of bubblewrap', () => {
  const args = sandboxArguments(FACTS);

  it('take every namespace and every capability', () => {
    expect(args.slice(0, 5)).toEqual([
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--cap-drop',
      'ALL',
    ]);
    expect(sandboxArguments({ ...FACTS, network: true })).toContain('--share-net');
  });

  it('empty folders before anything in them is shown, the outer ones first', () => {
    const root = placeOf(args, '--ro-bind', '/', '/');
    const outer = placeOf(args, '--tmpfs', '/home');
    const home = placeOf(args, '--dir', '/home/u');
    const tools = placeOf(args, '--ro-bind-try', '/home/u/.nvm');
    expect([root, outer, home, tools]).toEqual(
      [root, outer, home, tools].toSorted((a, b) => a - b),
    );
  });

  it('mount only what would not be there otherwise', () => {
    const open = sandboxArguments({
      ...FACTS,
      readable: [
        '/usr/local',
        '/srv/lib',
        '/srv/lib/a',
        '/home/u/.nvm',
        '/home/u/.nvm/bin',
        '/home/u/w/r',
      ],
      writable: ['/srv/lib', '/home/u/w'],
    });
    const shown = open.flatMap((word, at) =>
      word.endsWith('bind-try') ? [open[at + 1] ?? ''] : [],
    );
    // In a folder that is written to, what is for reading is read-only all the same.
    expect(shown.toSorted()).toEqual(
      ['/home/u/.nvm', '/home/u/w', '/home/u/w/r', '/srv/lib', '/srv/lib', '/srv/lib/a'].toSorted(),
    );
  });

  it('close what nobody may see after all that is shown, and show the tree after that', () => {
    const shown = placeOf(args, '--ro-bind-try', '/home/u/app');
    const state = placeOf(args, '--tmpfs', '/home/u/app/.git/troupe');
    const trees = placeOf(args, '--tmpfs', '/home/u/.local/state/troupe/trees/h');
    const tree = placeOf(args, '--bind', FACTS.tree, FACTS.tree);
    const pointer = placeOf(args, '--ro-bind', `${FACTS.tree}/.git`);
    expect(shown).toBeLessThan(Math.min(state, trees));
    expect(Math.max(state, trees)).toBeLessThan(tree);
    expect(tree).toBeLessThan(pointer);
  });

  it('never show a folder that holds an emptied one', () => {
    const open = sandboxArguments({ ...FACTS, readable: ['/home/u', '/'], writable: ['/home'] });
    expect(open).not.toContain('--ro-bind-try');
    expect(open).not.toContain('--bind-try');
  });

  it('leave a tree that is for reading unwritten', () => {
    const view = sandboxArguments({ ...FACTS, treeWritable: false, locked: [] });
    expect(view).not.toContain('--bind');
    placeOf(view, '--ro-bind', FACTS.tree, FACTS.tree);
  });

  it('close what lies in the tree after the tree', () => {
    const inside = `${FACTS.tree}/.git/troupe`;
    const args = sandboxArguments({ ...FACTS, closed: [...FACTS.closed, inside] });
    const tree = placeOf(args, '--bind', FACTS.tree, FACTS.tree);
    expect(placeOf(args, '--tmpfs', inside)).toBeGreaterThan(tree);
  });

  it('blank files that hold secrets', () => {
    placeOf(args, '--ro-bind', '/dev/null', '/home/u/app/.env');
  });
});
