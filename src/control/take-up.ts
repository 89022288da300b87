/**
 * Which runs a supervisor that is up takes up again after the death of the one before: what the workspace journal says of
 * them, and a pure plan over that.
 *
 * Invariants
 * - S13 A run is taken up only when a supervisor that was up held it last and nobody stopped it.
 * - S14 A run whose supervisor dies again and again soon after it was taken up is left alone, and the others go on: the
 *   suspects are taken up one at a time, so that a death is the word of one of them.
 */
import { readJournal } from '../journal/index.ts';
import type { LeftRun } from '../protocol/wire.ts';
import { TAKE_UP_HEALTHY_MS, TAKE_UP_SUSPECT, TAKE_UP_TRIES } from './limits.ts';
import { loadRun } from './queries.ts';
import { readRunFile } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/** The newest word on a run. */
export interface HeldRun {
  readonly run: string;
  readonly at: string;
  /** How often it was taken up in a row. */
  readonly tries: number;
}

export interface TakeUpPlan {
  /** At once. */
  readonly now: readonly HeldRun[];
  /** One after the other, each when the one before has gone on for a while. */
  readonly oneByOne: readonly HeldRun[];
  readonly left: readonly HeldRun[];
}

/** Pure. `tries` of what comes back is with this time. */
export function planTakeUp(held: readonly HeldRun[], now: number): TakeUpPlan {
  const next = held.map((run) => {
    const healthy = now - Date.parse(run.at) >= TAKE_UP_HEALTHY_MS;
    return { ...run, tries: healthy ? 1 : run.tries + 1 };
  });
  return {
    now: next.filter(({ tries }) => tries < TAKE_UP_SUSPECT),
    // Who is suspected most goes first: the others are cleared behind it.
    oneByOne: next
      .filter(({ tries }) => tries >= TAKE_UP_SUSPECT && tries <= TAKE_UP_TRIES)
      .toSorted((a, b) => b.tries - a.tries),
    left: next.filter(({ tries }) => tries > TAKE_UP_TRIES),
  };
}

export interface Remembered {
  readonly held: readonly HeldRun[];
  readonly left: readonly LeftRun[];
}

/** Read before the supervisor opens: by then every word is of one that is gone. */
export async function readHeld(workspace: Workspace): Promise<Remembered> {
  const newest = new Map<string, Readonly<Record<string, unknown>>>();
  const directory = `${workspace.places.state}/workspace/journal`;
  if ((await workspace.deps.files.stat(directory)) === null) return { held: [], left: [] };
  const records = readJournal({
    files: workspace.deps.files,
    directory,
    select: (head) => head.k === 'run',
  });
  for await (const record of records) {
    if (typeof record['run'] === 'string') newest.set(record['run'], record);
  }
  const held: HeldRun[] = [];
  const left: LeftRun[] = [];
  for (const [run, { up, what, at, tries, text }] of newest) {
    if (up !== true || typeof at !== 'string' || !(await goesOn(workspace, run))) continue;
    if (what === 'run.left') left.push({ run, at, reason: String(text) });
    else held.push({ run, at, tries: typeof tries === 'number' ? tries : 0 });
  }
  return { held, left };
}

/** Its journal knows no end and no stop. One that can't be read is tried, so that what is wrong is told. */
async function goesOn(workspace: Workspace, run: string): Promise<boolean> {
  try {
    const { state } = await loadRun(workspace, await readRunFile(workspace, run), NOBODY);
    const { ended, interrupted, stopRequested } = state.run;
    return ended === null && interrupted === null && stopRequested === null;
  } catch {
    return (await workspace.deps.files.stat(`${workspace.places.runs}/${run}`)) !== null;
  }
}

const NOBODY = { alive: false, phases: {} };
