/**
 * A fold of its own over the records of a run, which refuses what must not be recorded: no code of the product is asked.
 * M mail · T tasks · A actors · B money, by the labels of ARCHITECTURE.md.
 */
import type {
  ActorChange,
  Mail,
  SessionEntry,
  SpendChange,
  StoredRunRecord,
  TaskChange,
  TaskSpec,
  Usage,
} from '../../../src/protocol/index.ts';

export class Broken extends Error {}

export function hold(holds: boolean, text: string): asserts holds {
  if (!holds) throw new Broken(text);
}

export interface TaskModel {
  readonly spec: TaskSpec;
  state: 'open' | 'running' | 'verifying' | 'merging' | 'done' | 'failed' | 'cancelled';
  owner: string;
  fence: number;
  commit: string | null;
  merged: string | null;
  intent: string | null;
  charged: number;
}

export interface ActorModel {
  readonly kind: string;
  readonly parent: string | null;
  phase: 'added' | 'started' | 'passivated' | 'ended';
  incarnation: number;
  epoch: number;
}

const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);
const ACTIVE: ReadonlySet<string> = new Set(['running', 'verifying', 'merging']);

export class RunModel {
  readonly boxes: Map<string, Mail[]> = new Map();
  readonly took: Set<string> = new Set();
  readonly dead: Set<string> = new Set();
  readonly actors: Map<string, ActorModel> = new Map();
  readonly tasks: Map<string, TaskModel> = new Map();
  /** Calls by id: whose they are, and whether they have a result. */
  readonly calls: Map<string, { readonly actor: string; done: boolean }> = new Map();
  readonly procs: Set<string> = new Set();
  /** Put aside and not charged yet, with what is charged when nobody says what became of it. */
  readonly aside: Map<string, { readonly actor: string; readonly tokens: number }> = new Map();
  tokens = 0;
  ended: string | null = null;
  readonly #parallel: number;
  readonly #ids: Set<string> = new Set();
  readonly #counters: Map<string, number> = new Map();
  readonly #said: Set<string> = new Set();
  readonly #procsEver: Set<string> = new Set();
  readonly #charged: Set<string> = new Set();

  constructor(parallel: number) {
    this.#parallel = parallel;
  }

  apply(record: StoredRunRecord): void {
    if (record.k === ('seg' as string) || record.k === ('seal' as string)) return;
    hold(
      this.ended === null || !changesAnything(record),
      `S3: record ${record.s} comes after the end`,
    );
    if (record.run?.some(({ type }) => type === 'run.resumed') === true) this.#newTerm();
    for (const mail of record.mail ?? []) this.#mail(mail);
    this.#step(record);
    for (const change of record.actors ?? []) this.#actor(change, record);
    for (const change of record.tasks ?? []) this.#task(change, record);
    this.#procsOf(record);
    for (const change of record.spend ?? []) this.#spend(change, record);
    for (const entry of record.dead ?? []) {
      const at = `${entry.to ?? record.to} ${entry.n}`;
      if (entry.what === 'dead') this.dead.add(at);
    }
    for (const change of record.run ?? []) {
      if (change.type === 'run.ended') this.ended = change.state;
      if (change.type === 'run.ended' || change.type === 'run.interrupted') this.#void(() => true);
    }
    this.#whole(record);
  }

  #newTerm(): void {
    this.#void(() => true);
    for (const actor of this.actors.values()) if (actor.phase === 'started') actor.phase = 'added';
  }

  #mail(mail: Mail): void {
    hold(!this.#ids.has(mail.id), `M2: ${mail.id} is recorded twice`);
    this.#ids.add(mail.id);
    const sender = `${mail.from} ${mail.e}`;
    hold(mail.n > (this.#counters.get(sender) ?? 0), `M2: ${sender} counts ${mail.n} again`);
    this.#counters.set(sender, mail.n);
    const box = this.boxes.get(mail.to) ?? [];
    box.push(mail);
    this.boxes.set(mail.to, box);
  }

  #step(record: StoredRunRecord): void {
    const name = record.a ?? '';
    for (const n of record.took ?? []) {
      hold(!this.took.has(`${name} ${n}`), `M3: ${name} took in ${n} twice`);
      hold(
        (this.boxes.get(name)?.length ?? 0) >= n,
        `M3: ${name} took in ${n}, which is not there`,
      );
      hold(!this.dead.has(`${name} ${n}`), `M3: ${name} took in ${n}, which is a dead letter`);
      this.took.add(`${name} ${n}`);
    }
    for (const entry of record.entries ?? []) this.#entry(entry, record, name);
  }

  #entry(entry: SessionEntry, record: StoredRunRecord, name: string): void {
    if (entry.type === 'answer') {
      const [first] = entry.content;
      const mark = first?.type === 'text' ? first.text.replace('says ', '') : '';
      const [who, incarnation] = mark.split('.');
      const now = this.actors.get(name);
      hold(!this.#said.has(mark), `A4: the answer ${mark} is recorded twice`);
      this.#said.add(mark);
      hold(
        who === name && now?.phase === 'started' && now.incarnation === Number(incarnation),
        `A4: ${name} ${now?.incarnation} is ${now?.phase}, and an answer of ${mark} is recorded (${record.s})`,
      );
      for (const block of entry.content) {
        if (block.type === 'call') this.calls.set(block.id, { actor: name, done: false });
      }
      this.#charge(entry.usage);
    } else if (entry.type === 'result') {
      const call = this.calls.get(entry.call);
      hold(call?.actor === name, `L1: a result of ${entry.call}, which ${name} did not call`);
      hold(!call.done, `A4: ${entry.call} has a second result (${record.s})`);
      call.done = true;
    }
  }

  #charge(usage: Usage): void {
    this.tokens += usage.inputTokens + usage.outputTokens;
  }

  #actor(change: ActorChange, record: StoredRunRecord): void {
    const { name } = change;
    const actor = this.actors.get(name);
    if (change.type === 'actor.added') {
      const { kind, parent } = change;
      this.actors.set(name, { kind, parent, phase: 'added', incarnation: 0, epoch: 0 });
      return;
    }
    hold(actor !== undefined, `A: ${name} was never added`);
    this.#void((one) => one === name);
    if (change.type === 'actor.started') {
      const { incarnation, epoch } = change;
      hold(actor.phase !== 'started', `A4: ${name} is started while it lives (${record.s})`);
      hold(
        epoch > actor.epoch && incarnation >= actor.incarnation,
        `A4: ${name} starts as ${incarnation}/${epoch} after ${actor.incarnation}/${actor.epoch}`,
      );
      Object.assign(actor, { phase: 'started', incarnation, epoch });
    } else if (change.type === 'actor.passivated') {
      hold(this.#claimOf(name) === null, `A10: ${name} is put to sleep with a task in hand`);
      actor.phase = 'passivated';
    } else actor.phase = 'ended';
  }

  #claimOf(name: string): TaskModel | null {
    for (const task of this.tasks.values()) {
      if (task.state === 'running' && task.owner === name) return task;
    }
    return null;
  }

  #task(change: TaskChange, record: StoredRunRecord): void {
    if (change.type === 'task.added') {
      const blank = {
        state: 'open',
        owner: '',
        fence: 0,
        commit: null,
        merged: null,
        intent: null,
        charged: 0,
      } as const;
      this.tasks.set(change.task.id, { spec: change.task, ...blank });
      return;
    }
    const task = this.tasks.get(change.id);
    hold(task !== undefined, `T: ${change.id} was never added`);
    const where = `${change.type} of ${change.id} in record ${record.s}`;
    if (change.type === 'task.reopened') {
      hold(task.state === 'failed', `T3: ${where}: it is ${task.state}`);
      Object.assign(task, { state: 'verifying', owner: change.by, fence: record.s });
      for (const id of change.also) Object.assign(this.tasks.get(id) ?? {}, { state: 'open' });
      return;
    }
    hold(!ENDS.has(task.state), `T3: ${where}: it is ${task.state}`);
    if (change.type === 'task.claimed') this.#claimed(task, change, record);
    else this.#moved(task, change, where);
  }

  #claimed(
    task: TaskModel,
    change: Extract<TaskChange, { type: 'task.claimed' }>,
    record: StoredRunRecord,
  ): void {
    const { id, by } = change;
    hold(task.state === 'open', `T1: ${id} is claimed while it is ${task.state}`);
    for (const need of task.spec.needs) {
      hold(this.tasks.get(need)?.state === 'done', `T: ${id} is begun before ${need} is done`);
    }
    if (by !== 'supervisor') {
      hold(
        this.#claimOf(by) === null,
        `T1: ${by} claims ${id} and holds ${this.#claimOf(by)?.spec.id}`,
      );
      hold(task.spec.run === null, `T: ${by} claims the command ${id}`);
    }
    const others = [...this.tasks.values()].filter((one) => one.state === 'running');
    hold(others.length < this.#parallel, `T: ${id} is begun beside ${others.length} others`);
    const near = [...this.tasks.values()].filter((one) => ACTIVE.has(one.state));
    const rival = near.find(({ spec }) =>
      spec.touches.some((glob) => task.spec.touches.includes(glob)),
    );
    hold(rival === undefined, `T: ${id} is begun beside ${rival?.spec.id}, which touches the same`);
    Object.assign(task, { state: 'running', owner: by, fence: record.s });
  }

  #moved(
    task: TaskModel,
    change: Exclude<TaskChange, { type: 'task.added' | 'task.claimed' | 'task.reopened' }>,
    where: string,
  ): void {
    const state = (...states: TaskModel['state'][]): void =>
      hold(states.includes(task.state), `T: ${where}: it is ${task.state}`);
    switch (change.type) {
      case 'task.finished':
        state('running');
        hold(change.by === task.owner, `T1: ${where}: ${change.by} ends what ${task.owner} holds`);
        task.state = 'verifying';
        return;
      case 'task.committed':
        state('verifying');
        task.commit = change.commit;
        return;
      case 'task.verified':
        state('verifying');
        task.state = 'merging';
        return;
      case 'task.merging':
        state('merging');
        task.intent = change.to;
        return;
      case 'task.done':
        state('verifying', 'merging');
        hold(
          task.state === 'merging' || task.commit === null,
          `T4: ${where}, and it was not merged`,
        );
        task.state = 'done';
        task.merged = change.commit;
        return;
      case 'task.released':
        state('running', 'verifying', 'merging');
        if (change.counts === 'attempt') task.charged += 1;
        hold(
          task.charged < task.spec.attempts,
          `T4: ${where}: it has had ${task.charged} attempts`,
        );
        task.state = 'open';
        return;
      case 'task.failed':
        task.state = 'failed';
        return;
      case 'task.cancelled':
        task.state = 'cancelled';
        return;
      case 'task.tree':
      case 'task.gate':
    }
  }

  #procsOf(record: StoredRunRecord): void {
    for (const proc of record.procs ?? []) {
      if (proc.type === 'proc.started') {
        hold(!this.#procsEver.has(proc.id), `S: ${proc.id} is started twice`);
        this.#procsEver.add(proc.id);
        this.procs.add(proc.id);
      } else hold(this.procs.delete(proc.id), `S: ${proc.id} ends twice (${record.s})`);
    }
  }

  #spend(change: SpendChange, record: StoredRunRecord): void {
    const actor = record.a ?? '';
    if (change.type === 'spend.reserved') {
      hold(!this.aside.has(change.id), `B1: ${change.id} is put aside twice`);
      this.aside.set(change.id, { actor, tokens: change.input + change.output });
      return;
    }
    // Without a budget not everything is put aside first.
    this.aside.delete(change.id);
    hold(!this.#charged.has(change.id), `B1: ${change.id} is charged twice (${record.s})`);
    this.#charged.add(change.id);
    if (change.type === 'spend.settled') this.#charge(change.usage);
  }

  #void(which: (actor: string) => boolean): void {
    for (const [id, { actor, tokens }] of this.aside) {
      if (!which(actor)) continue;
      this.aside.delete(id);
      this.#charged.add(id);
      this.tokens += tokens;
    }
  }

  /** What one record must hold all of: it is a transaction. */
  #whole(record: StoredRunRecord): void {
    const letters = (type: string): number =>
      (record.mail ?? []).filter((one) => one.type === type).length;
    for (const change of record.actors ?? []) {
      if (change.type !== 'actor.ended') continue;
      const { name, end } = change;
      const held = this.#claimOf(name);
      hold(held === null, `S2: ${name} has ended (${record.s}), and still holds ${held?.spec.id}`);
      const isMember = this.actors.get(name)?.kind !== 'subagent';
      if (isMember && end.kind !== 'finished') {
        hold(letters('actor.died') > 0, `S2: nobody is told that ${name} has ended (${record.s})`);
      }
    }
    for (const change of record.tasks ?? []) {
      const type = change.type === 'task.done' ? 'task.finished' : change.type;
      if (type !== 'task.finished' && type !== 'task.failed') continue;
      if (change.type === 'task.finished' || !('id' in change)) continue;
      const told = (record.mail ?? []).filter((one) => one.type === type && one.task === change.id);
      hold(told.length === 1, `T: ${told.length} hear of the end of ${change.id} (${record.s})`);
    }
  }
}

function changesAnything(record: StoredRunRecord): boolean {
  return (record.tasks ?? record.actors ?? record.entries ?? record.took) !== undefined;
}
