/** Commands that run beside the turns of their actors (`bash {background: true}`): a fold over the records of processes. */
import type { ActorName, ProcId } from '../kernel/index.ts';
import type { ProcChange } from '../protocol/index.ts';
import { BACKGROUND_ENDED_KEPT } from './limits.ts';

export interface BackgroundFact {
  readonly id: ProcId;
  readonly command: string;
  readonly actor: ActorName;
  readonly incarnation: number;
  /** Of the claim whose tree it is in; 0: it is in no task's tree. */
  readonly fence: number;
  readonly startedAt: string;
  /** Null while it runs. */
  ended: BackgroundEnd | null;
}

export interface BackgroundEnd {
  readonly at: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly why: Extract<ProcChange, { type: 'proc.ended' }>['why'];
}

export function applyBackground(
  all: Map<ProcId, BackgroundFact>,
  change: ProcChange,
  at: string,
): void {
  if (change.type === 'proc.started') {
    const { id, command, actor, background } = change;
    if (background === undefined || actor === null) return;
    all.set(id, { id, command, actor, ...background, startedAt: at, ended: null });
    return;
  }
  const fact = all.get(change.id);
  if (fact === undefined) return;
  const { code, signal, why } = change;
  fact.ended = { at, code, signal, why };
  forgetOldest(all);
}

function forgetOldest(all: Map<ProcId, BackgroundFact>): void {
  const ended = [...all.values()].filter((one) => one.ended !== null);
  for (const one of ended.slice(0, -BACKGROUND_ENDED_KEPT)) all.delete(one.id);
}
