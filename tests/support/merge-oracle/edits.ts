/**
 * Random edits of a tree whose every line is the only one of its text in the whole history, so that what a merge must hold
 * can be said as a set of lines, without any notion of a diff.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';

/** How often each line is there. More than once only after a resolver moved it, which git takes for two changes. */
export type Lines = ReadonlyMap<string, number>;

const NAMES = ['src/a.ts', 'src/b.ts', 'docs/read me.md', 'docs/ü.md', 'lib/"q"', 'top.txt'];
const NEW_NAMES = ['src/new.ts', 'lib/other', 'docs/notes.md', 'z.txt', 'src/deep/c.ts', 'y'];

export function firstFiles(lines: (count: number) => string[]): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [name, joined(lines(30))]));
}

export function readFiles(root: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (entry.name === '.git') continue;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else found.set(path, split(readFileSync(join(root, path), 'utf8')));
    }
  };
  walk('');
  return found;
}

export function linesIn(root: string): Lines {
  return countLines([...readFiles(root).values()].flat());
}

export function countLines(lines: readonly string[]): Lines {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

export function writeLines(root: string, path: string, lines: readonly string[]): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), joined(lines));
}

export function split(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** One to three edits. */
export function editTree(
  root: string,
  random: SeededRandom,
  lines: (count: number) => string[],
): void {
  for (let count = 1 + random.below(3); count > 0; count -= 1) editOnce(root, random, lines);
}

function editOnce(root: string, random: SeededRandom, fresh: (count: number) => string[]): void {
  const files = readFiles(root);
  const path = random.pick([...files.keys()].toSorted()) ?? '';
  const lines = [...(files.get(path) ?? [])];
  const at = random.below(lines.length + 1);
  const some = 1 + random.below(3);
  const kind = random.below(100);
  const unused = random.pick(NEW_NAMES.filter((name) => !files.has(name)));
  if (kind < 35) lines.splice(at, 0, ...fresh(some));
  else if (kind < 55) lines.push(...fresh(some));
  else if (kind < 78) lines.splice(at, some, ...fresh(1 + random.below(3)));
  else if (kind < 86 && lines.length > 10) lines.splice(at, some, ...fresh(1));
  else if (kind < 92 && unused !== undefined) {
    writeLines(root, unused, fresh(8));
    return;
  } else if (kind < 96 && unused !== undefined) {
    writeLines(root, path, [...lines, ...fresh(1)]);
    mkdirSync(dirname(join(root, unused)), { recursive: true });
    renameSync(join(root, path), join(root, unused));
    return;
  } else if (kind < 98 && files.size > 5) {
    rmSync(join(root, path));
    return;
  } else lines.splice(0, 0, ...fresh(1));
  writeLines(root, path, lines);
}

/** Makes a tree hold each of these lines once: what has no place of its own goes to the end of `path`. Returns what moved. */
export function makeHold(root: string, wanted: ReadonlySet<string>, path: string): string[] {
  const missing = new Set(wanted);
  const moved: string[] = [];
  for (const [name, lines] of readFiles(root)) {
    const kept = lines.filter((line) => missing.delete(line));
    if (kept.length === lines.length) continue;
    const isKept = new Set(kept);
    moved.push(...lines.filter((line) => wanted.has(line) && !isKept.has(line)));
    if (kept.length === 0) rmSync(join(root, name));
    else writeLines(root, name, kept);
  }
  if (missing.size > 0) {
    writeLines(root, path, [...(readFiles(root).get(path) ?? []), ...missing]);
  }
  return [...moved, ...missing];
}

/** What changed from one to the other, by line; without those that did not. */
export function difference(from: Lines, to: Lines): Lines {
  const changes = new Map<string, number>();
  for (const line of new Set([...from.keys(), ...to.keys()])) {
    const change = (to.get(line) ?? 0) - (from.get(line) ?? 0);
    if (change !== 0) changes.set(line, change);
  }
  return changes;
}

/** The lines that must be there when a change is made to what is there. */
export function afterChange(from: Lines, change: Lines): Set<string> {
  const all = new Set([...from.keys(), ...change.keys()]);
  return new Set([...all].filter((line) => (from.get(line) ?? 0) + (change.get(line) ?? 0) > 0));
}
