/**
 * Names and ids. Runs, members and tasks are named by people (`NAME`); everything else is minted here from a clock
 * and a random source, sortable by time, so that two mints never meet and a simulation repeats them.
 */
import type { Clock, Random } from './ports.ts';
import { isoTime } from './time.ts';

declare const brand: unique symbol;
export type Branded<T, B extends string> = T & { readonly [brand]: B };

export type RunId = Branded<string, 'RunId'>;
export type TaskId = Branded<string, 'TaskId'>;
/** Name of a lead, teammate or subagent, or one of the reserved addresses. */
export type ActorName = Branded<string, 'ActorName'>;
export type EnvelopeId = Branded<string, 'EnvelopeId'>;
/** One tool call of one model answer, unique in its run. */
export type CallId = Branded<string, 'CallId'>;
/** One child process of the process host, and the name of its output file. */
export type ProcId = Branded<string, 'ProcId'>;

/** design §2: names and ids of runs, members and tasks; unique without regard to case. */
export const NAME: RegExp = /^[a-z0-9][a-z0-9_-]{0,47}$/;

/** design §5 M6. `lead` may be used, by the lead alone. */
export const RESERVED_NAMES: readonly string[] = [
  'lead',
  'supervisor',
  'broker',
  'user',
  'system',
  'all',
];

export const LEAD: ActorName = 'lead' as ActorName;
export const USER: ActorName = 'user' as ActorName;
export const SUPERVISOR: ActorName = 'supervisor' as ActorName;

export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Trusted casts: for text that has been checked, or that this code made. */
const asRunId = (text: string): RunId => text as RunId;
export const asTaskId = (text: string): TaskId => text as TaskId;
export const asActorName = (text: string): ActorName => text as ActorName;
export const asEnvelopeId = (text: string): EnvelopeId => text as EnvelopeId;
export const asCallId = (text: string): CallId => text as CallId;
export const asProcId = (text: string): ProcId => text as ProcId;

export type IdKind = 'env' | 'cal' | 'prc' | 'log';

/** `<kind>_<10 base-36 digits of ms><random>`: sorts by time, unique by the random part. */
export function mintId(kind: IdKind, source: { clock: Clock; random: Random }): string {
  const time = source.clock.now().toString(36).padStart(9, '0');
  return `${kind}_${time}${source.random.id(10)}`;
}

/** A run id from its team's name and the time: `quickstart-1130-192049-k3f`. */
export function mintRunId(teamName: string, source: { clock: Clock; random: Random }): RunId {
  const iso = isoTime(source.clock.now());
  const stamp = `${iso.slice(5, 7)}${iso.slice(8, 10)}-${iso.slice(11, 19).replaceAll(':', '')}`;
  return asRunId(`${teamName.slice(0, 28)}-${stamp}-${source.random.id(3)}`);
}

/** Names within edit distance 2 of `wanted`, nearest first, at most three: for "did you mean". */
export function nearMatches(wanted: string, known: Iterable<string>): string[] {
  const scored: { name: string; distance: number }[] = [];
  for (const name of known) {
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance <= 2 || (wanted.length > 2 && name.startsWith(wanted))) {
      scored.push({ name, distance });
    }
  }
  scored.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name));
  return scored.slice(0, 3).map((entry) => entry.name);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
