/**
 * Lifecycle of actors (design §6): durable facts as a fold over `ActorChange`, and the state that people see, derived
 * from the facts and from what the supervisor knows of the thread. The supervisor decides; this room keeps the books.
 *
 * Invariants
 * - A4 One live incarnation per name: a start has a higher epoch than all before, and the end of an old one is void.
 * - A5 A state is derived, never stored: facts and liveness go in, one union comes out.
 */
import type { ActorName } from '../kernel/ids.ts';
import { invariant } from '../kernel/invariant.ts';
import type { ActorChange, ActorEnd, ActorKind, Reason } from '../protocol/record.ts';
import type { ActorRow } from '../protocol/shapes.ts';
import type { AgentProfile } from '../protocol/team.ts';
import type { Usage } from '../protocol/usage.ts';

export type ActorPhase =
  /** Known, never started. */
  | { readonly kind: 'added' }
  | { readonly kind: 'started' }
  /** Its thread ended for want of work; mail starts it again. */
  | { readonly kind: 'passivated' }
  | { readonly kind: 'ended'; readonly end: ActorEnd };

/** What the journal says of one actor. */
export interface Actor {
  readonly name: ActorName;
  readonly kind: ActorKind;
  readonly profile: AgentProfile;
  readonly parent: ActorName | null;
  readonly depth: number;
  /** 0 before the first start. */
  readonly incarnation: number;
  readonly epoch: number;
  readonly phase: ActorPhase;
  /** When the phase began, and the record that said so. */
  readonly since: string;
  readonly sinceSeq: number;
  /** The record with which its present life began: what came before is that of another of its name. */
  readonly addedSeq: number;
}

export interface ActorTable {
  /** In order of adding. */
  readonly byName: Map<ActorName, Actor>;
}

/** What only the supervisor knows: nothing of it outlives the process. */
export type ActorLive =
  | { readonly kind: 'absent' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly activity: ActorActivity }
  | { readonly kind: 'stopping' };

export type ActorActivity =
  | { readonly kind: 'idle' | 'thinking' | 'tooling' }
  | { readonly kind: 'waiting'; readonly reason: Reason };

export type Lifecycle =
  | { readonly kind: 'starting' | 'idle' | 'thinking' | 'tooling' | 'passivated' | 'stopping' }
  | { readonly kind: 'waiting' | 'stopped' | 'crashed'; readonly reason: Reason };

export function makeActorTable(): ActorTable {
  return { byName: new Map() };
}

export function actorOf(table: ActorTable, name: string): Actor | null {
  return table.byName.get(name as ActorName) ?? null;
}

/** How it ended; null while mail and claims may still go to it, with or without a thread. */
export function endOf(actor: Actor): ActorEnd | null {
  return actor.phase.kind === 'ended' ? actor.phase.end : null;
}

export interface ChangePlace {
  readonly seq: number;
  readonly at: string;
}

export function applyActor(table: ActorTable, change: ActorChange, place: ChangePlace): void {
  const since = { since: place.at, sinceSeq: place.seq };
  if (change.type === 'actor.added') {
    const before = table.byName.get(change.name);
    table.byName.set(change.name, {
      name: change.name,
      kind: change.kind,
      profile: change.profile,
      parent: change.parent,
      depth: change.depth,
      // A name that is used again goes on counting, so that late results of its first life stay recognisable.
      incarnation: before?.incarnation ?? 0,
      epoch: before?.epoch ?? 0,
      phase: { kind: 'added' },
      ...since,
      addedSeq: place.seq,
    });
    return;
  }
  const facts = table.byName.get(change.name);
  invariant(facts !== undefined, `A4: ${change.type} of ${change.name}, which was never added`);
  switch (change.type) {
    case 'actor.started': {
      const { incarnation, epoch } = change;
      invariant(
        epoch > facts.epoch && incarnation >= facts.incarnation,
        `A4: ${change.name} starts as ${incarnation}/${epoch} after ${facts.incarnation}/${facts.epoch}`,
      );
      table.byName.set(change.name, {
        ...facts,
        incarnation,
        epoch,
        phase: { kind: 'started' },
        ...since,
      });
      return;
    }
    case 'actor.passivated':
      if (change.epoch !== facts.epoch || facts.phase.kind !== 'started') return;
      table.byName.set(change.name, { ...facts, phase: { kind: 'passivated' }, ...since });
      return;
    case 'actor.ended':
      if (change.incarnation < facts.incarnation) return;
      // The first end stands, but for a stop of who died and would be started again.
      if (facts.phase.kind === 'ended' && !isStopOfDead(facts.phase.end, change.end)) return;
      table.byName.set(change.name, {
        ...facts,
        phase: { kind: 'ended', end: change.end },
        ...since,
      });
  }
}

function isStopOfDead(before: ActorEnd, now: ActorEnd): boolean {
  return before.kind === 'crashed' && now.kind === 'stopped';
}

export interface StartNumbers {
  readonly incarnation: number;
  readonly epoch: number;
}

/** Numbers of the next start: a wake-up after passivation keeps the incarnation, all else is a new one. */
export function nextIncarnation(table: ActorTable, name: string): StartNumbers {
  const facts = actorOf(table, name);
  if (facts === null) return { incarnation: 1, epoch: 1 };
  const woken = facts.phase.kind === 'passivated';
  return { incarnation: facts.incarnation + (woken ? 0 : 1), epoch: facts.epoch + 1 };
}

/** The one place where a state is made of facts and liveness (A5). */
export function lifecycleOf(facts: Actor, live: ActorLive): Lifecycle {
  const { phase } = facts;
  if (phase.kind === 'ended') return endedAs(phase.end);
  switch (live.kind) {
    case 'starting':
    case 'stopping':
      return { kind: live.kind };
    case 'running':
      return live.activity.kind === 'waiting'
        ? { kind: 'waiting', reason: live.activity.reason }
        : { kind: live.activity.kind };
    case 'absent':
      // Started and without a thread: its supervisor is gone, or is about to make the thread. It is asleep either way.
      return { kind: 'passivated' };
  }
}

function endedAs(end: ActorEnd): Lifecycle {
  const reason: Reason = { kind: 'stopped', text: end.text };
  return end.kind === 'crashed' ? { kind: 'crashed', reason } : { kind: 'stopped', reason };
}

export interface ActorRowParts {
  readonly live: ActorLive;
  readonly task: string | null;
  readonly usage: Usage;
  /** When the present activity began, if that is later than the phase. */
  readonly activeSince?: string;
}

export function actorRow(facts: Actor, parts: ActorRowParts): ActorRow {
  const state = lifecycleOf(facts, parts.live);
  return {
    name: facts.name,
    kind: facts.kind,
    incarnation: facts.incarnation,
    state: state.kind,
    reason: 'reason' in state ? state.reason : null,
    task: parts.task,
    since: parts.activeSince ?? facts.since,
    usage: parts.usage,
  };
}
