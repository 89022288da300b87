/**
 * What the queue of asks promises, checked on the records alone and on what actors and clients saw; with a model of its own,
 * and nothing of the room's code.
 *
 * P30 an ask ends once, and whoever is later is told who was first · P31 an answer reaches a call once · P33 a grant is no
 * wider than its offer · P34 (P15) what runs was allowed, exactly as it is, and its decision was on record before.
 */
import type {
  AskBody,
  AskChange,
  Decision,
  Grant,
  StoredRunRecord,
} from '../../../src/protocol/index.ts';
import type { Fact, SimPolicy } from './queue-facts.ts';

export interface AskModel {
  readonly body: AskBody;
  readonly order: number;
  readonly waiters: Map<string, string>;
  state: 'open' | 'allow' | 'deny' | 'over';
  /** Who ended it, for those who come later. */
  by: string;
  expiresAt: string | null;
}

class Broken extends Error {}

/** Tools that rules and people decide about; those of the team are everybody's. */
const JUDGED: ReadonlySet<string> = new Set(['bash', 'write_file', 'read_file']);

function hold(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Broken(text);
}

/** A fold of its own over the records, which refuses what must not be recorded. */
export class QueueModel {
  readonly asks: Map<string, AskModel> = new Map();
  readonly grants: Map<string, Grant> = new Map();
  readonly revoked: Set<string> = new Set();
  /** Allowed calls, with the ones that rest on an answer. */
  readonly allowed: Map<string, { readonly decision: Decision; readonly ask: AskModel | null }> =
    new Map();
  readonly results: Set<string> = new Set();
  readonly procs: Map<string, string> = new Map();
  readonly denials: Map<string, number> = new Map();
  readonly #policies: Map<string, SimPolicy>;
  #count = 0;

  constructor(policies: Map<string, SimPolicy>) {
    this.#policies = policies;
  }

  apply(record: StoredRunRecord): void {
    const used = new Map<string, AskModel>();
    for (const change of record.asks ?? []) this.#change(change, record, used);
    for (const decision of record.decisions ?? []) this.#decided(decision, record, used);
    for (const { type, ...proc } of record.procs ?? []) {
      const [decision] = record.decisions ?? [];
      if (type === 'proc.started' && decision !== undefined) this.procs.set(proc.id, decision.call);
    }
    for (const entry of record.entries ?? [])
      if (entry.type === 'result') this.results.add(entry.call);
  }

  #change(change: AskChange, record: StoredRunRecord, used: Map<string, AskModel>): void {
    const ask = 'id' in change ? this.asks.get(change.id) : undefined;
    const what = `${change.type} ${'id' in change ? change.id : ''} in record ${record.s}`;
    switch (change.type) {
      case 'ask.put': {
        const { ask: body, waiter } = change;
        hold(!this.asks.has(body.id), `P30: ${body.id} is put twice`);
        const equal = [...this.asks.values()].find(
          (one) => one.state === 'open' && one.body.digest === body.digest,
        );
        hold(equal === undefined, `P30: ${body.id} asks what ${equal?.body.id} asks already`);
        this.#free(waiter.call, what);
        this.#count += 1;
        const waiters = new Map<string, string>([[waiter.call, waiter.actor]]);
        const { expiresAt } = body;
        this.asks.set(body.id, {
          body,
          order: this.#count,
          waiters,
          state: 'open',
          by: '',
          expiresAt,
        });
        return;
      }
      case 'ask.joined':
        hold(ask?.state === 'open', `P30: ${what}: it is over`);
        // Who comes back after a restart stands behind those who never went.
        if (!ask.waiters.delete(change.waiter.call)) this.#free(change.waiter.call, what);
        ask.waiters.set(change.waiter.call, change.waiter.actor);
        return;
      case 'ask.answered':
        hold(ask?.state === 'open', `P30: ${what}: it is ${ask?.state}`);
        ask.state = change.effect;
        ask.by = change.by;
        for (const actor of new Set(ask.waiters.values())) this.#tally(actor, change.effect);
        return;
      case 'ask.timed-out':
        hold(ask?.state === 'open', `P30: ${what}: it is ${ask?.state}`);
        hold(
          ask.expiresAt !== null && record.at >= ask.expiresAt,
          `P30: ${what}: it had until ${ask.expiresAt}, and it was ${record.at}`,
        );
        ask.state = 'deny';
        ask.by = 'time';
        for (const actor of new Set(ask.waiters.values())) this.#tally(actor, 'deny');
        return;
      case 'ask.withdrawn':
        if (ask === undefined || !ask.waiters.delete(change.call)) return;
        if (ask.waiters.size === 0 && ask.state === 'open') ask.state = 'over';
        return;
      case 'ask.superseded':
        hold(ask?.state === 'open', `P30: ${what}: it is ${ask?.state}`);
        ask.waiters.clear();
        ask.state = 'over';
        return;
      case 'ask.used':
        hold(ask?.state === 'allow' || ask?.state === 'deny', `P31: ${what}: it has no answer`);
        hold(ask.waiters.delete(change.call), `P31: ${what}: ${change.call} does not wait for it`);
        used.set(change.call, ask);
        return;
      case 'ask.renewed':
        hold(ask?.state === 'open', `P30: ${what}: it is over`);
        ask.expiresAt = change.expiresAt;
        return;
      case 'ask.warned':
        hold(ask?.state === 'open', `P30: ${what}: it is over`);
        return;
      case 'grant.given':
        this.#granted(change.grant, record);
        return;
      case 'grant.revoked':
        this.revoked.add(change.id);
        return;
      case 'actor.paused':
        hold(
          (this.denials.get(change.actor) ?? 0) >= 3 || this.#denialsOfRun() >= 20,
          `P30: ${change.actor} is paused after ${this.denials.get(change.actor) ?? 0} denials`,
        );
        return;
      case 'actor.unpaused':
        this.denials.delete(change.actor);
        this.#total = 0;
        return;
      case 'grant.kept':
      case 'grant.used':
    }
  }

  #total = 0;

  #denialsOfRun(): number {
    return this.#total;
  }

  #tally(actor: string, effect: 'allow' | 'deny'): void {
    if (effect === 'allow') this.denials.delete(actor);
    else {
      this.denials.set(actor, (this.denials.get(actor) ?? 0) + 1);
      this.#total += 1;
    }
  }

  #free(call: string, what: string): void {
    for (const one of this.asks.values()) {
      hold(!one.waiters.has(call), `P31: ${what}: ${call} waits for ${one.body.id} as well`);
    }
    hold(!this.#mayRun(call), `P31: ${what}: ${call} was allowed already`);
  }

  /** What only reads may be done again after a crash. */
  #mayRun(call: string): boolean {
    const known = this.allowed.get(call);
    return known !== undefined && known.decision.tool !== 'read_file';
  }

  #granted(grant: Grant, record: StoredRunRecord): void {
    const ask = this.asks.get(grant.ask);
    const answered = (record.asks ?? []).some(
      (one) => one.type === 'ask.answered' && one.id === grant.ask && one.effect === 'allow',
    );
    hold(ask !== undefined && answered, `P33: ${grant.id} was given without an answer`);
    const same = JSON.stringify(grant.rules) === JSON.stringify(ask.body.offer?.rules);
    hold(same, `P33: ${grant.id} is not what was offered`);
    const profile = grant.scope === 'run' ? ask.body.profile : null;
    hold(grant.profile === profile, `P33: ${grant.id} is for ${grant.profile}`);
    this.grants.set(grant.id, grant);
  }

  #decided(decision: Decision, record: StoredRunRecord, used: Map<string, AskModel>): void {
    if (decision.effect !== 'allow' || !JUDGED.has(decision.tool)) return;
    const { call, rule, tool, input } = decision;
    const where = `record ${record.s} allows ${call}`;
    hold(!this.#mayRun(call), `P31: ${where} a second time`);
    const ask = used.get(call) ?? null;
    const policy = this.#policies.get(decision.revision ?? '');
    hold(policy !== undefined, `P20: ${where} by no policy that there was`);
    const name = programOf(input);
    hold(
      name === null || !policy.deny.includes(name),
      `P1: ${where}, which ${policy.revision} denies`,
    );
    if (rule === 'approved') {
      hold(ask?.state === 'allow', `P34: ${where} without a yes`);
      const asked = JSON.stringify([ask.body.tool, ask.body.input]);
      hold(asked === JSON.stringify([tool, input]), `P34: ${where}, but ${asked} was asked`);
    } else if (rule.startsWith('grant:')) {
      const grant = this.grants.get(rule.slice('grant:'.length).split('#')[0] ?? '');
      hold(grant !== undefined, `P33: ${where} by ${rule}, which nobody gave`);
      hold(
        grant.expiresAt === null || record.at < grant.expiresAt,
        `P33: ${where} by ${rule}, which has expired`,
      );
      hold(covers(grant, input), `P33: ${where} by ${grant.pattern}`);
    } else {
      const byTeam = rule === 'src' && isBelow('src/**', Object(input)['path'] ?? '');
      hold(byTeam || (name !== null && policy.allow.includes(name)), `P19: ${where} by ${rule}`);
    }
    this.allowed.set(call, { decision, ask });
  }
}

const programOf = (input: unknown): string | null => {
  const command: unknown = Object(input)['command'];
  return typeof command === 'string' ? (command.split(' ')[0] ?? '') : null;
};

function covers(grant: Grant, input: unknown): boolean {
  const { command, path } = Object(input) as { readonly command?: string; readonly path?: string };
  return grant.rules.some((rule) =>
    command === undefined
      ? isBelow(rule.path, path ?? '')
      : JSON.stringify(rule.argv) === JSON.stringify(command.split(' ')) && rule.exact === true,
  );
}

function isBelow(pattern: Grant['rules'][number]['path'], path: string): boolean {
  if (typeof pattern === 'string') return path.startsWith(pattern.replace('**', ''));
  const { under, glob } = Object(pattern) as { readonly under?: string; readonly glob?: string };
  return path === `${under}/${glob}`;
}

export interface Judged {
  readonly model: QueueModel;
  readonly violation: string | null;
}

/** What any disk of a run must hold, whenever the process died; `facts`: all that was seen until then. */
export function judgeRecords(records: readonly StoredRunRecord[], facts: readonly Fact[]): Judged {
  const policies = new Map<string, SimPolicy>();
  for (const fact of facts)
    if (fact.type === 'policy') policies.set(fact.policy.revision, fact.policy);
  const model = new QueueModel(policies);
  try {
    for (const record of records) model.apply(record);
    judgeFacts(model, facts);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { model, violation: error.message };
  }
  return { model, violation: null };
}

function judgeFacts(model: QueueModel, facts: readonly Fact[]): void {
  const ran = new Set<string>();
  const firsts = new Map<string, string>();
  const run = (call: string, how: string): void => {
    hold(model.allowed.has(call), `P34: ${call} ${how}, and no record allows it`);
    hold(!ran.has(call), `P31: ${call} ${how} a second time`);
    ran.add(call);
  };
  for (const fact of facts) {
    switch (fact.type) {
      case 'started': {
        const call = model.procs.get(fact.proc);
        hold(call !== undefined, `P34: ${fact.command} was started without a record`);
        run(call, 'was run');
        break;
      }
      case 'permitted':
        run(fact.call, 'was permitted');
        judgePlace(model, fact);
        break;
      case 'answered': {
        const ask = model.asks.get(fact.ask);
        hold(ask !== undefined, `P30: ${fact.by} answered ${fact.ask}, which is not on record`);
        hold(
          ask.by === fact.by && (ask.state === fact.effect || ask.waiters.size === 0),
          `P30: ${fact.by} was told that its ${fact.effect} of ${fact.ask} counts, but it was ${ask.by}'s`,
        );
        hold(
          !firsts.has(fact.ask),
          `P30: ${fact.ask} was answered by ${firsts.get(fact.ask)} and ${fact.by}`,
        );
        hold(
          fact.digest === null || fact.digest === ask.body.digest,
          `P15: an answer to something else than ${fact.ask} asks counted`,
        );
        firsts.set(fact.ask, fact.by);
        if (fact.grant !== null)
          hold(model.grants.has(fact.grant), `P33: ${fact.grant} is not on record`);
        break;
      }
      case 'refused': {
        const ask = model.asks.get(fact.ask);
        if (fact.code !== 'ask/answered' || ask === undefined) break;
        hold(
          ask.state !== 'open',
          `P30: ${fact.by} was told that ${fact.ask} is over, and it is open`,
        );
        hold(
          fact.first === ask.by,
          `P30: ${fact.by} was told of ${fact.first}, and it was ${ask.by}`,
        );
        break;
      }
      case 'life':
      case 'policy':
      case 'requested':
      case 'revoked':
    }
  }
}

/** P15: a yes to what lies there counts for what lies there. */
function judgePlace(model: QueueModel, fact: Extract<Fact, { type: 'permitted' }>): void {
  const known = model.allowed.get(fact.call);
  if (known?.ask == null || known.decision.rule !== 'approved') return;
  const shown = known.ask.body.touches.some((line) => line.includes('other/'));
  hold(
    shown === fact.swapped,
    `P15: ${fact.call} writes ${fact.swapped ? 'other' : 'src'}, and the question said ${known.ask.body.touches.join('; ')}`,
  );
}

/** P32 by the model: the first of each actor by age, then their second ones, and so on. */
export function orderOf(model: QueueModel): string[] {
  const open = [...model.asks.values()]
    .filter((ask) => ask.state === 'open')
    .toSorted((a, b) => a.order - b.order);
  const rounds: string[][] = [];
  const turns = new Map<string, number>();
  for (const ask of open) {
    const [actor = ''] = ask.waiters.values();
    const round = turns.get(actor) ?? 0;
    turns.set(actor, round + 1);
    (rounds[round] ??= []).push(ask.body.id);
  }
  return rounds.flat();
}

const TRACE_LINES = 60;

/** The last steps of the queue, for who looks at a failure. */
export function traceOf(records: readonly StoredRunRecord[]): string {
  const lines = records.flatMap((record) => [
    ...(record.asks ?? []).map((change) => `${record.s} ${shortOf(change)}`),
    ...(record.decisions ?? []).map(
      ({ effect, call, rule, revision }) =>
        `${record.s} ${effect} ${call} by ${rule} of ${revision}`,
    ),
    ...(record.entries ?? []).flatMap((entry) =>
      entry.type === 'result'
        ? [`${record.s} result ${entry.call}: ${entry.text.slice(0, 60)}`]
        : [],
    ),
    ...(record.actors ?? []).map(
      (change) => `${record.s} ${change.type} ${'name' in change ? change.name : ''}`,
    ),
    ...(record.run ?? []).map((change) => `${record.s} ${change.type}`),
  ]);
  return lines.slice(-TRACE_LINES).join('\n');
}

function shortOf(change: AskChange): string {
  const id = 'id' in change ? change.id.slice(0, 10) : '';
  switch (change.type) {
    case 'ask.put':
      return `ask.put ${change.ask.id.slice(0, 10)} ${change.waiter.call}: ${change.ask.touches.join('; ')}`;
    case 'ask.joined':
      return `${change.type} ${id} ${change.waiter.call}`;
    case 'ask.answered':
      return `${change.type} ${id} ${change.effect} ${change.scope} by ${change.by}`;
    case 'ask.withdrawn':
      return `${change.type} ${id} ${change.call}: ${change.reason}`;
    case 'ask.used':
      return `${change.type} ${id} ${change.call}`;
    case 'grant.given':
      return `${change.type} ${change.grant.id} ${change.grant.pattern}`;
    case 'actor.paused':
    case 'actor.unpaused':
      return `${change.type} ${change.actor}`;
    case 'ask.renewed':
    case 'ask.superseded':
    case 'ask.timed-out':
    case 'ask.warned':
    case 'grant.kept':
    case 'grant.revoked':
    case 'grant.used':
      return `${change.type} ${id}`;
  }
}
