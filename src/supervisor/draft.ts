/**
 * One decision in the making: the sections of its record and the effects that follow it. Everything that a decision
 * changes goes into one record (J-R2); its effects are executed after that record is durable.
 */

import { actorOf } from '../actors/index.ts';
import {
  type ActorName,
  asEnvelopeId,
  asProcId,
  isoTime,
  type ProcId,
  SUPERVISOR,
  USER,
} from '../kernel/index.ts';
import { type MailSender, stampMail } from '../mailbox/index.ts';
import type {
  ActorChange,
  AskChange,
  Decision,
  HookFact,
  Mail,
  MailDraft,
  NoteFact,
  ProcChange,
  RunChange,
  RunCronChange,
  RunRecord,
  SessionEntry,
  SpendChange,
  TaskChange,
  TeamChange,
  TreeChange,
  Usage,
} from '../protocol/index.ts';
import type { Effect } from './effect.ts';
import type { Happening } from './inbox.ts';
import type { RunState } from './state.ts';

type Sections = {
  -readonly [K in keyof RunRecord]: RunRecord[K];
};

export class Draft {
  readonly effects: Effect[] = [];
  readonly state: RunState;
  readonly at: string;
  readonly happening: Happening;
  private readonly sections: Sections;
  private readonly mail: Mail[] = [];
  private readonly tasks: TaskChange[] = [];
  private readonly actors: ActorChange[] = [];
  private readonly run: RunChange[] = [];
  private readonly trees: TreeChange[] = [];
  private readonly procs: ProcChange[] = [];
  private readonly decisions: Decision[] = [];
  private readonly teamwork: TeamChange[] = [];
  private readonly asks: AskChange[] = [];
  private readonly spending: SpendChange[] = [];
  private readonly notes: NoteFact[] = [];
  private readonly jobs: RunCronChange[] = [];
  private readonly hooks: HookFact[] = [];
  private procsStarted = 0;
  private filled = false;

  constructor(state: RunState, happening: Happening) {
    this.state = state;
    this.happening = happening;
    this.at = isoTime(happening.now);
    this.sections = { k: 'run', at: this.at };
  }

  /** The kind of the record and the actor it is about; the last one given stands. */
  about(k: RunRecord['k'], actor?: { name: ActorName; incarnation: number; epoch: number }): this {
    this.sections.k = k;
    if (actor !== undefined) {
      this.sections.a = actor.name;
      this.sections.i = actor.incarnation;
      this.sections.e = actor.epoch;
    }
    return this;
  }

  step(part: { entries: readonly SessionEntry[]; took?: readonly number[]; usage?: Usage }): this {
    this.sections.entries = [...(this.sections.entries ?? []), ...part.entries];
    if (part.took !== undefined && part.took.length > 0) this.sections.took = part.took;
    if (part.usage !== undefined) this.sections.usage = part.usage;
    this.filled = true;
    return this;
  }

  /** Of the actor that the record is about. */
  gave(positions: readonly number[]): this {
    this.sections.gave = positions;
    this.filled = true;
    return this;
  }

  /** Stamps and adds mail; the caller has checked the recipient. Returns the stamped mail. */
  send(draft: MailDraft, from: MailSender, id?: string): Mail {
    const stamped = stampMail(this.state.mail, draft, from, asEnvelopeId(id ?? ''));
    const mail: Mail =
      id === undefined
        ? { ...stamped, id: asEnvelopeId(`env_${stamped.from}_${stamped.e}_${stamped.n}`) }
        : stamped;
    this.mail.push(mail);
    this.filled = true;
    return mail;
  }

  /** From the supervisor itself: exempt from bounds (M7). */
  notice(draft: MailDraft): Mail {
    return this.send(draft, this.supervisor());
  }

  task(change: TaskChange): this {
    this.tasks.push(change);
    this.filled = true;
    return this;
  }

  actor(change: ActorChange): this {
    this.actors.push(change);
    this.filled = true;
    return this;
  }

  runChange(change: RunChange): this {
    this.run.push(change);
    this.filled = true;
    return this;
  }

  tree(change: TreeChange): this {
    this.trees.push(change);
    this.filled = true;
    return this;
  }

  proc(change: ProcChange): this {
    this.procs.push(change);
    this.filled = true;
    return this;
  }

  decided(decision: Decision): this {
    this.decisions.push(decision);
    this.filled = true;
    return this;
  }

  team(change: TeamChange): this {
    this.teamwork.push(change);
    this.filled = true;
    return this;
  }

  ask(change: AskChange): this {
    this.asks.push(change);
    this.filled = true;
    return this;
  }

  note(note: NoteFact): this {
    this.notes.push(note);
    this.filled = true;
    return this;
  }

  cron(change: RunCronChange): this {
    this.jobs.push(change);
    this.filled = true;
    return this;
  }

  hook(fact: HookFact): this {
    this.hooks.push(fact);
    this.filled = true;
    return this;
  }

  spend(change: SpendChange): this {
    this.spending.push(change);
    this.filled = true;
    return this;
  }

  dead(to: ActorName, entries: NonNullable<RunRecord['dead']>): this {
    this.sections.to ??= to;
    const own = this.sections.to === to ? entries : entries.map((entry) => ({ ...entry, to }));
    this.sections.dead = [...(this.sections.dead ?? []), ...own];
    this.filled = true;
    return this;
  }

  effect(effect: Effect): this {
    this.effects.push(effect);
    return this;
  }

  /** The next process id of the run; counts those that this decision started already. */
  nextProc(): ProcId {
    this.procsStarted += 1;
    return asProcId(`prc-${this.state.procCount + this.procsStarted}`);
  }

  supervisor(): MailSender {
    return { name: SUPERVISOR, incarnation: this.term(), epoch: this.term() };
  }

  user(): MailSender {
    return { name: USER, incarnation: this.term(), epoch: this.term() };
  }

  sender(name: ActorName): MailSender {
    const actor = actorOf(this.state.actors, name);
    return { name, incarnation: actor?.incarnation ?? 0, epoch: actor?.epoch ?? 0 };
  }

  /** Null when the decision changes nothing that lasts. */
  record(): RunRecord | null {
    if (!this.filled) return null;
    const { entries, took, usage, dead, ...head } = this.sections;
    return {
      ...head,
      ...(took === undefined ? {} : { took }),
      ...(entries === undefined ? {} : { entries }),
      ...(this.mail.length === 0 ? {} : { mail: this.mail }),
      ...(this.tasks.length === 0 ? {} : { tasks: this.tasks }),
      ...(this.actors.length === 0 ? {} : { actors: this.actors }),
      ...(this.run.length === 0 ? {} : { run: this.run }),
      ...(this.trees.length === 0 ? {} : { trees: this.trees }),
      ...(this.procs.length === 0 ? {} : { procs: this.procs }),
      ...(this.decisions.length === 0 ? {} : { decisions: this.decisions }),
      ...(this.teamwork.length === 0 ? {} : { team: this.teamwork }),
      ...(this.asks.length === 0 ? {} : { asks: this.asks }),
      ...(this.spending.length === 0 ? {} : { spend: this.spending }),
      ...(this.jobs.length === 0 ? {} : { cron: this.jobs }),
      ...(this.notes.length === 0 ? {} : { notes: this.notes }),
      ...(this.hooks.length === 0 ? {} : { hooks: this.hooks }),
      ...(usage === undefined ? {} : { usage }),
      ...(dead === undefined ? {} : { dead }),
    };
  }

  get empty(): boolean {
    return !this.filled && this.effects.length === 0;
  }

  private term(): number {
    const pending = this.run.find(
      (change) => change.type === 'run.started' || change.type === 'run.resumed',
    );
    return pending?.term ?? this.state.run.term;
  }
}
