/**
 * The step before a decision: large payloads of an event are stored, and the event goes on with their heads and references
 * (M8); what a call names is looked up on the disk (`looking.ts`). A decision does no I/O, and the record that it writes
 * names nothing that is not durable.
 *
 * Invariants
 * - M4 What one sender sends is decided in the order in which it came; nobody else waits for it.
 */
import type { BlobStore } from '../../journal/index.ts';
import { ensureError, USER } from '../../kernel/index.ts';
import {
  type ContentBlock,
  type PayloadRef,
  payloadHead,
  type SessionEntry,
} from '../../protocol/index.ts';
import { blockByReference, isLarge, payloadOf } from '../../sessions/index.ts';
import type { RunEvent } from '../inbox.ts';
import type { Looking } from './looking.ts';

export interface IntakeDeps {
  readonly blobs: Pick<BlobStore, 'put'>;
  /** Absent: there is no disk to look at, and the policy never changes. */
  readonly looking?: Pick<Looking, 'isLate' | 'isStale' | 'refresh' | 'withFacts'> | undefined;
  readonly decide: (event: RunEvent) => void;
  /** Its payload could not be stored; it is not decided. */
  readonly failed: (event: RunEvent, error: Error) => void;
}

const encoder = new TextEncoder();

export class Intake {
  private readonly deps: IntakeDeps;
  /** Events of each sender that wait, the one whose payload is being stored first. */
  private readonly lines = new Map<string, RunEvent[]>();
  private readonly running = new Set<Promise<void>>();

  constructor(deps: IntakeDeps) {
    this.deps = deps;
  }

  /** Decided at once, unless something of it, or of an earlier one of its sender, is to be stored. Never throws. */
  take(event: RunEvent): void {
    if (event.type === 'stopped' && this.running.size > 0) {
      // The last word of a run: all that was said before it comes first.
      const before = Promise.allSettled(this.running);
      this.watch(before.then(() => this.deps.decide(event)));
      return;
    }
    const { looking } = this.deps;
    if (event.type === 'sweep' && looking?.isStale() === true) this.watch(looking.refresh());
    const sender = senderOf(event);
    const line = sender === null ? undefined : this.lines.get(sender);
    if (line !== undefined) line.push(event);
    else if (sender === null || !(hasPayload(event) || looking?.isLate(event) === true))
      this.decide(event);
    else {
      this.lines.set(sender, [event]);
      this.watch(this.work(sender));
    }
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  private decide(event: RunEvent): void {
    this.deps.decide(this.deps.looking?.withFacts(event) ?? event);
  }

  private watch(work: Promise<void>): void {
    this.running.add(work);
    void work.finally(() => this.running.delete(work));
  }

  private async work(sender: string): Promise<void> {
    const line = this.lines.get(sender) ?? [];
    for (let event = line[0]; event !== undefined; event = line[0]) {
      try {
        if (this.deps.looking?.isLate(event) === true) await this.deps.looking.refresh();
        this.decide(hasPayload(event) ? await this.store(event) : event);
      } catch (thrown) {
        this.deps.failed(event, ensureError(thrown));
      }
      line.shift();
    }
    this.lines.delete(sender);
  }

  private async store(event: RunEvent): Promise<RunEvent> {
    if (event.type === 'send') {
      const payload = await this.put(event.text);
      return { ...event, text: payloadHead(event.text, payload.bytes), payload };
    }
    if (event.type !== 'request') return event;
    const { upward } = event;
    const { request } = upward;
    if (request.type === 'answer') {
      const entries: SessionEntry[] = [];
      for (const entry of request.entries) entries.push(await this.storeEntry(entry));
      return { ...event, upward: { ...upward, request: { ...request, entries } } };
    }
    if (isLargeCall(event)) return { ...event, payload: await this.put(inputOf(event)) };
    const field = largeField(event);
    const text = messageIn(event);
    if (request.type !== 'act' || field === null || text === null) return event;
    const payload = await this.put(text);
    const input = { ...Object(request.input), [field]: payloadHead(text, payload.bytes) };
    return { ...event, upward: { ...upward, request: { ...request, input } }, payload };
  }

  private async storeEntry(entry: SessionEntry): Promise<SessionEntry> {
    if (entry.type !== 'answer') return entry;
    const content: ContentBlock[] = [];
    for (const block of entry.content) {
      const payload = payloadOf(block);
      content.push(payload === null ? block : blockByReference(block, await this.put(payload)));
    }
    return { ...entry, content };
  }

  private put(text: string): Promise<PayloadRef> {
    return this.deps.blobs.put(encoder.encode(text));
  }
}

/** Whose order it belongs to; null: nobody's. */
function senderOf(event: RunEvent): string | null {
  if (event.type === 'send' || event.type === 'ask.answer') return USER;
  if (event.type === 'call.looked') return event.name;
  return event.type === 'request' || event.type === 'actor.exited' ? event.name : null;
}

function hasPayload(event: RunEvent): boolean {
  if (event.type === 'send') return isLarge(event.text);
  if (event.type !== 'request') return false;
  const { request } = event.upward;
  if (request.type !== 'answer') return isLargeCall(event) || isLarge(messageIn(event) ?? '');
  return request.entries.some(
    (entry) => entry.type === 'answer' && entry.content.some((block) => payloadOf(block) !== null),
  );
}

type Request = Extract<RunEvent, { type: 'request' }>;

/** A call that may have to be put to a person, with an input that no record should hold. */
function isLargeCall(event: Request): boolean {
  const { request } = event.upward;
  const judged = request.type === 'permit' || (request.type === 'act' && request.tool === 'bash');
  return judged && isLarge(inputOf(event));
}

function inputOf({ upward }: Request): string {
  return 'input' in upward.request ? (JSON.stringify(upward.request.input) ?? '') : '';
}

/** What becomes the text of a letter, by the tool. */
const LETTERS: Readonly<Record<string, string>> = {
  send_message: 'text',
  spawn_teammate: 'prompt',
  submit_plan: 'plan',
};

function largeField(event: Extract<RunEvent, { type: 'request' }>): string | null {
  const { request } = event.upward;
  if (request.type !== 'act' || !Object.hasOwn(LETTERS, request.tool)) return null;
  return LETTERS[request.tool] ?? null;
}

/** The text of a letter that a call of an actor becomes. */
function messageIn(event: Extract<RunEvent, { type: 'request' }>): string | null {
  const { request } = event.upward;
  const field = largeField(event);
  if (request.type !== 'act' || field === null) return null;
  const text: unknown = Object(request.input)[field];
  return typeof text === 'string' ? text : null;
}
