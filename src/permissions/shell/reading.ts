/**
 * What the reading of one command finds out: the small facts that must each be allowed. Filled by `walk` and `commands`,
 * judged by `evaluate`; nothing here knows rules.
 */
import type { Word } from 'unbash';
import { FOLDERS_MAX, REASONS_MAX, STEPS_MAX } from '../limits.ts';
import type { Access } from '../path-floor.ts';
import type { Arg } from './arg.ts';

/** Where a command may be run, as far as the `cd`s before it are known. */
export interface Folders {
  readonly all: readonly string[];
  /** It may also be anywhere else. */
  readonly unknown: boolean;
}

/** One program that is started, with its words. */
export interface Exec {
  readonly argv: readonly Arg[];
  /** Why no rule with a prefix may allow it; null: one may. */
  readonly opaque: string | null;
  /** Needs no rule of its own: a wrapper whose command is judged. */
  readonly covered: boolean;
  /** Only may be a program: a word behind something unknown. */
  readonly guess: boolean;
}

/** One file that is used. */
export interface FileUse {
  readonly access: Access;
  readonly path: Arg;
  readonly folders: Folders;
  /** False: the word may be something other than a path. */
  readonly sure: boolean;
  /** What lies below is read as well; `visible`: but for names with a dot. */
  readonly deep: 'no' | 'all' | 'visible';
  /** For messages: `cat`, `>`. */
  readonly by: string;
}

export class Reading {
  readonly execs: Exec[] = [];
  readonly uses: FileUse[] = [];
  /** Why the text can't be allowed by a rule. */
  readonly doubts: string[] = [];
  /** Environment variables that are set and not known to be harmless. */
  readonly env: string[] = [];
  unread = false;
  /** Why the floor refuses it. */
  denied: string | null = null;
  /** Each word as it was read, for the canonical text; but for those that are plain letters. */
  args: Map<Word, Arg> | null = null;
  readonly home: string | null;

  constructor(home: string | null) {
    this.home = home;
  }

  keep(word: Word, arg: Arg): void {
    this.args ??= new Map();
    this.args.set(word, arg);
  }

  /** Work that was done for this call, in units of some ten nanoseconds. */
  steps = 0;

  /** P13: before work that grows with the call; false: it has had its share, and what is left of it is not looked at. */
  spend(steps: number): boolean {
    if (this.steps + steps <= STEPS_MAX) {
      this.steps += steps;
      return true;
    }
    this.steps = STEPS_MAX;
    this.cut('it takes too long to look at each part of it');
    return false;
  }

  /** Some of it was not read at all: what is missing may be anything, also what the floor refuses. */
  cut(reason: string): void {
    this.unread = true;
    this.doubt(reason);
  }

  doubt(reason: string): void {
    if (this.doubts.length < REASONS_MAX && !this.doubts.includes(reason)) this.doubts.push(reason);
  }

  deny(reason: string): void {
    this.denied ??= reason;
  }
}

export function joinFolders(a: Folders, b: Folders): Folders {
  if (a === b) return a;
  // The usual case, thousands of times in a long text.
  if ((a.unknown || !b.unknown) && b.all.every((folder) => a.all.includes(folder))) return a;
  const all = [...new Set([...a.all, ...b.all])];
  const unknown = a.unknown || b.unknown;
  return all.length > FOLDERS_MAX
    ? { all: all.slice(0, FOLDERS_MAX), unknown: true }
    : { all, unknown };
}
