/**
 * Random trees with links in, out, dangling and in loops, on a real disk: where a path leads is what the system says, and
 * no path that leads out of the tree may be written, however it is named.
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDisk } from '../../../src/cli/disk.ts';
import { type DecisionContext, evaluate, makePolicy } from '../../../src/permissions/index.ts';
import { type Dice, seededDice } from './programs.ts';

const seed = Number(process.env['TROUPE_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const TREES = 12;
const PATHS = 60;

const policy = makePolicy(
  [
    {
      name: 'user',
      origin: 'links',
      trusted: true,
      file: {
        version: 1,
        defaults: {},
        actors: {},
        profiles: {},
        lift: [],
        rules: [
          {
            id: 'edits',
            effect: 'allow',
            tool: 'write_file',
            path: { under: 'worktree' },
            reason: null,
          },
        ],
      },
    },
  ],
  '',
);

const NAMES = ['a', 'b', 'c', 'd'];
const pick = (dice: Dice, all: readonly string[]): string =>
  all[Math.floor(dice.next() * all.length)] ?? '';

function grow(dice: Dice, base: string): void {
  const folders = [join(base, 'tree'), join(base, 'out')];
  for (const folder of folders) mkdirSync(folder);
  for (let at = 0; at < 14; at += 1) {
    const here = join(pick(dice, folders), pick(dice, NAMES));
    const roll = dice.next();
    try {
      if (roll < 0.35) {
        mkdirSync(here);
        folders.push(here);
      } else if (roll < 0.55) writeFileSync(here, '');
      else {
        const target = pick(dice, [
          '..',
          '../..',
          '../out',
          '../out/new',
          'a',
          'b/c',
          './a/../b',
          join(base, 'out'),
          join(base, 'tree/a'),
          '/nonexistent/x',
          'loop',
        ]);
        symlinkSync(target, here);
      }
    } catch {
      // The name is taken: the next one may be free.
    }
  }
}

function realOf(path: string): string | null {
  try {
    // The plain form takes `..` away before it looks at links.
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** Where a new file of this name comes to lie; null when none can be made. Nothing is made outside of `base`. */
function placeOfNew(base: string, path: string): string | null {
  const holder = realOf(path.slice(0, path.lastIndexOf('/')));
  if (holder === null || !holder.startsWith(`${base}/`)) return holder;
  try {
    closeSync(openSync(path, 'a'));
  } catch {
    return null;
  }
  const place = realOf(path);
  if (place !== null) unlinkSync(place);
  return place;
}

test(`P6 P7: links are followed as the system follows them (TROUPE_SEED=${seed})`, () => {
  const dice = seededDice(seed);
  let outside = 0;
  for (let tree = 0; tree < TREES; tree += 1) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-links-')));
    try {
      grow(dice, base);
      const root = join(base, 'tree');
      const disk = makeDisk();
      const context: DecisionContext = {
        actor: 'a',
        root,
        home: null,
        attended: true,
        resolve: disk.resolve,
      };
      for (let at = 0; at < PATHS; at += 1) {
        const length = 1 + Math.floor(dice.next() * 4);
        const path = Array.from({ length }, () => pick(dice, [...NAMES, ...NAMES, '..', '.'])).join(
          '/',
        );
        const real = realOf(`${root}/${path}`);
        const where = `${path} in ${base}`;
        if (real !== null) expect(disk.resolve(`${root}/${path}`)?.path, where).toBe(real);
        const { action } = evaluate({ tool: 'write_file', input: { path } }, policy, context);
        // What is not there yet lies where the system would make it, also behind a link that leads nowhere yet.
        const place = real ?? placeOfNew(base, `${root}/${path}`);
        if (place === null || place === root || place.startsWith(`${root}/`)) continue;
        outside += 1;
        expect(action, where).not.toBe('allow');
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  }
  expect(outside).toBeGreaterThan(0);
});
