/**
 * What an agent knows: its committed transcript and the mail that waits for the next request. What comes next is read
 * off these alone, so that a restarted agent goes on where the old one was.
 *
 * Invariants
 * - M3 Mail is seen by the answer whose request contained it, never by anything else; until then it stays here.
 * - L7 A conversation about a task goes on by itself only while the actor holds that task.
 */
import { asTaskId, SUPERVISOR, type TaskId } from '../kernel/index.ts';
import {
  type ActorKind,
  type CompactionEntry,
  type ContentBlock,
  type Envelope,
  type MailItem,
  type Message,
  mailItem,
  type PlacedEntry,
  type SessionEntry,
  type StopReason,
  type Workplace,
} from '../protocol/index.ts';
import {
  buildMessages,
  type CallBlock,
  callsOf,
  currentChapter,
  danglingCalls,
  ownNotes,
  textOf,
  todoLines,
} from '../sessions/index.ts';

export type Next =
  | { readonly kind: 'ask' }
  | { readonly kind: 'idle'; readonly why: 'end' | 'length' | 'refusal' }
  /** The last answer asked for nothing: a subagent's report. */
  | {
      readonly kind: 'answered';
      readonly why: 'end' | 'length' | 'refusal';
      readonly text: string;
    };

type AnswerEntry = Extract<SessionEntry, { type: 'answer' }>;

/** Tools after whose success the model is not asked again. */
const CLOSING = new Set(['complete_task', 'fail_task']);

export class Conversation {
  readonly #kind: ActorKind;
  readonly #prompt: string | null;
  readonly #entries: PlacedEntry[];
  readonly #known = new Set<number>();
  readonly #outputs = new Set<string>();
  readonly #callIds = new Set<string>();
  #waiting: MailItem[] = [];
  #bulk: MailItem[] = [];

  constructor(options: {
    readonly kind: ActorKind;
    readonly prompt: string | null;
    readonly entries: readonly PlacedEntry[];
  }) {
    this.#kind = options.kind;
    this.#prompt = options.prompt;
    this.#entries = [];
    for (const placed of options.entries) this.#keep(placed);
  }

  get entries(): readonly PlacedEntry[] {
    return this.#entries;
  }

  /** Mail that the next request will contain. */
  get waiting(): readonly MailItem[] {
    return this.#waiting;
  }

  /** Mail that answers were given to, oldest first. */
  seenMail(): MailItem[] {
    return this.#entries.flatMap(({ entry }) => (entry.type === 'mail' ? entry.items : []));
  }

  get lastSeq(): number {
    return this.#entries.at(-1)?.seq ?? 0;
  }

  dangling(): CallBlock[] {
    return danglingCalls(this.#entries);
  }

  /** Whether an answer may use this id: a call is known by it for ever. */
  isFreshCall(id: string): boolean {
    return !this.#callIds.has(id);
  }

  ownsOutput(path: string): boolean {
    return this.#outputs.has(path) || this.#outputs.has(path.replace(/^outputs\/(.*)\.log$/, '$1'));
  }

  /** Mail that was pushed; what is known already (a redelivery) has no second effect (M2). Whether there was any new. */
  receive(envelopes: readonly Envelope[]): boolean {
    const fresh = envelopes.filter((envelope) => !this.#known.has(envelope.n));
    for (const envelope of fresh) {
      this.#known.add(envelope.n);
      (envelope.lane === 'bulk' ? this.#bulk : this.#waiting).push(mailItem(envelope));
    }
    return fresh.length > 0;
  }

  /** These are dead letters now: no request contains them, unless they come again. */
  giveUp(positions: readonly number[]): void {
    const over = new Set(positions);
    for (const n of over) this.#known.delete(n);
    this.#waiting = this.#waiting.filter(({ n }) => !over.has(n));
    this.#bulk = this.#bulk.filter(({ n }) => !over.has(n));
  }

  /** Bulk mail joins when somebody looks for it or nothing else is to be done. */
  admitBulk(): void {
    this.#waiting.push(...this.#bulk);
    this.#bulk = [];
  }

  get hasBulk(): boolean {
    return this.#bulk.length > 0;
  }

  /** Committed: `entries` are in the journal. Mail among them has left the queue. */
  commit(seq: number, at: string, entries: readonly SessionEntry[]): void {
    for (const entry of entries) {
      this.#keep({ seq, at, entry });
      if (entry.type !== 'mail') continue;
      const taken = new Set(entry.items.map((item) => item.n));
      this.#waiting = this.#waiting.filter((item) => !taken.has(item.n));
    }
  }

  /** `compaction`: as they would be after it. */
  messages(compaction?: CompactionEntry): Message[] {
    const options = { kind: this.#kind, firstPrompt: this.#prompt };
    return buildMessages(this.#withWaiting(compaction), options);
  }

  /** What the next request is about. */
  chapter(): readonly PlacedEntry[] {
    return currentChapter(this.#withWaiting(), this.#kind);
  }

  /** The last answer called `compact`, and nothing has come of it yet. */
  wantsCompaction(): { readonly focus: string | null } | null {
    const at = this.#entries.findLastIndex(({ entry }) => entry.type === 'answer');
    const answer = this.#entries[at]?.entry;
    if (answer?.type !== 'answer') return null;
    if (this.#entries.slice(at).some(({ entry }) => entry.type === 'compaction')) return null;
    const call = callsOf(answer).find((one) => one.name === 'compact' && this.#succeeded(one.id));
    if (call === undefined) return null;
    const focus = field(call.input, 'focus');
    return { focus: typeof focus === 'string' ? focus : null };
  }

  /** One line an item. */
  todo(): string[] {
    return todoLines(ownNotes(currentChapter(this.#entries, this.#kind)).todo);
  }

  next(workplace: Workplace | null): Next {
    if (this.#waiting.length > 0) return { kind: 'ask' };
    const answer = this.#lastAnswer();
    if (answer === null) {
      return this.#prompt !== null ? { kind: 'ask' } : { kind: 'idle', why: 'end' };
    }
    if (callsOf(answer).length === 0) {
      return { kind: 'answered', why: idleReason(answer.stop), text: textOf(answer) };
    }
    const held = this.#taskAfter(answer);
    if (held !== null && workplace?.task !== held) return { kind: 'idle', why: 'end' };
    return this.hasEnded() ? { kind: 'idle', why: 'end' } : { kind: 'ask' };
  }

  /** The last answer finished or gave up its task. */
  hasEnded(): boolean {
    const answer = this.#lastAnswer();
    if (answer === null) return false;
    return callsOf(answer).some(
      (call) =>
        CLOSING.has(call.name) && this.#succeeded(call.id) && isAbout(call.input, answer.task),
    );
  }

  /** Answers since the attempt (or, without a task, the last mail) began. */
  turnsSpent(task: TaskId | null): number {
    const entries = this.#withWaiting();
    const start = entries.findLastIndex(
      ({ entry }) => entry.type === 'mail' && begins(entry, task),
    );
    return entries.slice(start + 1).filter(({ entry }) => entry.type === 'answer').length;
  }

  /** How often the newest call came with the same result, one after the other. */
  sameCalls(): number {
    const calls = new Map<string, string>();
    const seen: string[] = [];
    for (const { entry } of this.#withWaiting()) {
      if (entry.type === 'mail') seen.length = 0;
      else if (entry.type === 'answer') {
        for (const call of callsOf(entry)) calls.set(call.id, keyOf(call));
      } else if (entry.type === 'result' && entry.interrupted === undefined) {
        seen.push(`${calls.get(entry.call) ?? ''}\n${entry.ok}\n${entry.text}`);
      }
    }
    const last = seen.at(-1);
    const other = seen.findLastIndex((key) => key !== last);
    return seen.length - 1 - other;
  }

  #keep(placed: PlacedEntry): void {
    this.#entries.push(placed);
    const { entry } = placed;
    if (entry.type === 'mail') for (const item of entry.items) this.#known.add(item.n);
    else if (entry.type === 'result') {
      if (entry.output !== undefined) this.#outputs.add(entry.output);
    } else if (entry.type === 'compaction') {
      for (const { output } of entry.cut) this.#outputs.add(output);
    } else for (const call of callsOf(entry)) this.#callIds.add(call.id);
  }

  #withWaiting(compaction?: CompactionEntry): readonly PlacedEntry[] {
    const more: SessionEntry[] = compaction === undefined ? [] : [compaction];
    if (this.#waiting.length > 0) more.push({ type: 'mail', items: this.#waiting });
    if (more.length === 0) return this.#entries;
    return [...this.#entries, ...more.map((entry) => ({ seq: this.lastSeq, at: '', entry }))];
  }

  #lastAnswer(): AnswerEntry | null {
    const placed = this.#entries.findLast(({ entry }) => entry.type === 'answer');
    return placed?.entry.type === 'answer' ? placed.entry : null;
  }

  /** The task that the actor holds after the calls of `answer`, when nobody took it away. */
  #taskAfter(answer: AnswerEntry): TaskId | null {
    const claim = callsOf(answer).findLast(
      (call) => call.name === 'claim_task' && this.#succeeded(call.id),
    );
    return (claim === undefined ? null : claimed(claim.input)) ?? answer.task;
  }

  #succeeded(call: string): boolean {
    const placed = this.#entries.findLast(
      ({ entry }) => entry.type === 'result' && entry.call === call,
    );
    return placed?.entry.type === 'result' && placed.entry.ok;
  }
}

function idleReason(stop: StopReason): 'end' | 'length' | 'refusal' {
  return stop === 'length' || stop === 'refusal' ? stop : 'end';
}

function begins(entry: Extract<SessionEntry, { type: 'mail' }>, task: TaskId | null): boolean {
  // What the runtime has to say of its limits is no work, and gives no new turns.
  if (task === null) {
    return entry.items.some(({ from, type }) => from !== SUPERVISOR || type !== 'chat.message');
  }
  return entry.items.some(({ type }) => type === 'task.assign' || type === 'task.rework');
}

function keyOf(call: Extract<ContentBlock, { type: 'call' }>): string {
  return `${call.name} ${JSON.stringify(call.input)}`;
}

function claimed(input: unknown): TaskId | null {
  const id = field(input, 'id');
  return typeof id === 'string' ? asTaskId(id) : null;
}

/** `complete_task` without `task` is about the one at hand. */
function isAbout(input: unknown, task: TaskId | null): boolean {
  const named = field(input, 'task');
  return named === undefined || named === task;
}

function field(input: unknown, name: string): unknown {
  if (typeof input !== 'object' || input === null) return undefined;
  return Object.entries(input).find(([key]) => key === name)?.[1];
}
