/** A run whose decisions are made one by one, with actors that do what a test says: records, replies and letters. */
import { createHash } from 'node:crypto';
import { asActorName, asCallId } from '../../src/kernel/index.ts';
import {
  type ActorReply,
  type Envelope,
  NO_USAGE,
  type RunFile,
  type StoredRunRecord,
} from '../../src/protocol/index.ts';
import { decide, settle } from '../../src/supervisor/decide/index.ts';
import type { Draft } from '../../src/supervisor/draft.ts';
import type { Effect } from '../../src/supervisor/effect.ts';
import type { RunEvent } from '../../src/supervisor/inbox.ts';
import { type Live, makeLive } from '../../src/supervisor/live.ts';
import { applyRecord, makeRunState, type RunState } from '../../src/supervisor/state.ts';

export const TIP: string = 'a'.repeat(40);
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface Acted {
  readonly ok: boolean;
  readonly text: string;
}

export class TeamWorld {
  readonly file: RunFile;
  state: RunState;
  live: Live;
  readonly records: StoredRunRecord[] = [];
  now: number = Date.parse('2026-11-30T12:00:00.000Z');
  monotonicMs = 0;
  /** Of what was decided last. */
  effects: Effect[] = [];
  /** Letters that each thread was given and has not taken in. */
  readonly inboxes: Map<string, Envelope[]> = new Map();
  /** Threads that are stopped end only with `gone`. */
  endsWait = false;
  #calls = 0;
  #requests = 0;

  constructor(file: RunFile) {
    this.file = file;
    this.state = makeRunState(file);
    this.live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: TIP, hash });
    this.step({ type: 'started' });
  }

  /** The event with what the disk says of it, as the intake adds it. */
  seen: (event: RunEvent) => RunEvent = (event) => event;

  /** An event, all that follows from it, and what the outside does at once for it: trees and views are made. */
  step(event: RunEvent): Effect[] {
    const effects = this.#decide(event);
    for (let at = 0; at < effects.length; at += 1) {
      const effect = effects[at];
      if (effect?.type === 'view.prepare') {
        const outcome = {
          kind: 'ready',
          path: '/t/_view',
          branch: '',
          start: TIP,
          note: null,
        } as const;
        effects.push(...this.#decide({ type: 'view.ready', outcome }));
      } else if (effect?.type === 'tree.prepare') {
        const { task, fence, path } = effect;
        const outcome = {
          kind: 'ready',
          path,
          branch: `b/${task}`,
          start: TIP,
          note: null,
        } as const;
        effects.push(...this.#decide({ type: 'tree.prepared', task, fence, outcome }));
      } else if (effect?.type === 'call.look') {
        const { name, call } = effect;
        effects.push(...this.#decide(this.seen({ type: 'call.looked', name, call })));
      } else if (
        effect?.type === 'actor.stop' &&
        !this.endsWait &&
        this.live.actors.has(effect.name)
      ) {
        const { name, incarnation } = effect;
        const epoch = this.live.actors.get(name)?.epoch ?? 0;
        const exit = { kind: 'killed' } as const;
        effects.push(...this.#decide({ type: 'actor.exited', name, incarnation, epoch, exit }));
      }
    }
    this.effects = effects;
    return effects;
  }

  /** A call that the supervisor runs; its result when it has one at once. */
  act(name: string, tool: string, input: unknown): Acted {
    const reply = this.request(name, { type: 'act', call: this.#call(), tool, input });
    if (reply?.type !== 'acted') throw new Error(`${tool}: ${JSON.stringify(reply)}`);
    return { ok: reply.result.ok, text: reply.result.text };
  }

  /** A call that waits, its id. */
  begin(name: string, tool: string, input: unknown): string {
    const call = this.#call();
    this.request(name, { type: 'act', call, tool, input });
    return call;
  }

  /** Whether the thread may run a file call. */
  permit(name: string, tool = 'write_file'): string {
    const input = { path: 'a.txt', content: 'a' };
    const reply = this.request(name, { type: 'permit', call: this.#call(), tool, input });
    return reply?.type === 'refused' ? reply.reason : (reply?.type ?? 'nothing');
  }

  /** Takes in what it was given, with an answer that calls these tools. */
  answer(name: string, calls: readonly string[] = []): void {
    const mail = this.inboxes.get(name) ?? [];
    this.inboxes.set(name, []);
    const content = calls.map((tool) => ({
      type: 'call' as const,
      id: this.#call(),
      name: tool,
      input: {},
    }));
    const took = mail.map(({ n }) => n);
    const entry = { type: 'answer', task: null, model: 'm', stop: 'end', usage: NO_USAGE } as const;
    this.request(name, {
      type: 'answer',
      took,
      entries: [{ ...entry, content }],
      usage: NO_USAGE,
    });
  }

  /** Takes in its mail, says something and has nothing more to do. */
  rest(name: string): void {
    this.answer(name);
    this.request(name, { type: 'idle', why: 'end' });
  }

  die(name: string): void {
    const actor = this.live.actors.get(asActorName(name));
    if (actor === undefined) throw new Error(`${name} has no thread`);
    const exit = { kind: 'crashed', code: 'uncaught', message: 'broken' } as const;
    const { incarnation, epoch } = actor;
    this.step({ type: 'actor.exited', name: actor.name, incarnation, epoch, exit });
  }

  /** The end of a thread that was stopped. */
  gone(name: string): void {
    const actor = this.live.actors.get(asActorName(name));
    if (actor === undefined) throw new Error(`${name} has no thread`);
    const exit = { kind: 'finished' } as const;
    const { incarnation, epoch } = actor;
    this.step({ type: 'actor.exited', name: actor.name, incarnation, epoch, exit });
  }

  request(
    name: string,
    request: Extract<RunEvent, { type: 'request' }>['upward']['request'],
  ): ActorReply | null {
    const actor = this.live.actors.get(asActorName(name));
    if (actor === undefined) throw new Error(`${name} has no thread`);
    this.#requests += 1;
    const id = this.#requests;
    const effects = this.step({
      type: 'request',
      name: actor.name,
      incarnation: actor.incarnation,
      epoch: actor.epoch,
      upward: { id, request },
    });
    const reply = effects.find((effect) => effect.type === 'reply' && effect.id === id);
    return reply?.type === 'reply' ? reply.reply : null;
  }

  /** Time goes on, and what is due is looked at. */
  pass(ms: number): void {
    this.now += ms;
    this.monotonicMs += ms;
    const beats = Object.fromEntries(
      [...this.live.actors].map(([name, one]) => [name, one.beat + 1]),
    );
    this.step({ type: 'sweep', beats });
  }

  /** kill -9, and another supervisor that knows the records alone. `hours` lie between. */
  restart(hours = 0): void {
    this.now += hours * 3_600_000;
    this.monotonicMs = 5_000;
    this.inboxes.clear();
    this.state = this.replayed();
    this.live = makeLive({ startedMonotonic: this.monotonicMs, wallUsedMs: 0, tip: TIP, hash });
    this.step({ type: 'resumed', left: [], damage: [] });
  }

  replayed(): RunState {
    const state = makeRunState(this.file);
    for (const record of this.records) applyRecord(state, record);
    return state;
  }

  /** `type to: text` of all letters, oldest first. */
  letters(type: string): string[] {
    const all = this.records.flatMap((record) => record.mail ?? []);
    return all.filter((one) => one.type === type).map(({ to, body }) => `${to}: ${body.text}`);
  }

  #call() {
    this.#calls += 1;
    return asCallId(`cal_${this.#calls}`);
  }

  #decide(event: RunEvent): Effect[] {
    const happening = { event, now: this.now, monotonicMs: this.monotonicMs };
    const effects: Effect[] = [];
    for (
      let draft: Draft | null = decide(this.state, this.live, happening);
      draft !== null;
      draft = settle(this.state, this.live, happening)
    ) {
      const record = draft.record();
      if (record !== null) {
        const s = this.records.length + 1;
        const stored = { ...record, s, d: s };
        applyRecord(this.state, stored);
        this.records.push(stored);
      }
      for (const effect of draft.effects) this.#note(effect);
      effects.push(...draft.effects);
    }
    return effects;
  }

  #note(effect: Effect): void {
    if (effect.type === 'actor.start') this.inboxes.set(effect.start.name, []);
    if (effect.type !== 'actor.post') return;
    for (const message of effect.messages) {
      if (message.type === 'mail') this.inboxes.get(effect.name)?.push(...message.envelopes);
    }
  }
}
