import {
  type AgentDeps,
  type AgentEnd,
  type AgentPort,
  runAgent,
} from '../../../src/agent/index.ts';
import {
  asActorName,
  asCallId,
  asEnvelopeId,
  asTaskId,
  isoTime,
  type TaskId,
} from '../../../src/kernel/index.ts';
import type {
  ActorKind,
  ActorReply,
  ActorRequest,
  ActorStart,
  Envelope,
  Lane,
  PermissionRule,
  PlacedEntry,
  Provider,
  ProviderRequest,
  SessionEntry,
  Workplace,
} from '../../../src/protocol/index.ts';
import { makeScriptedProvider, parseScript } from '../../../src/providers/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { toolsForKind } from '../../../src/tools/index.ts';
import { MemoryOutputs } from '../tools/call.ts';
import { MemoryTree } from '../tools/memory-tree.ts';

type ResultEntry = Extract<SessionEntry, { type: 'result' }>;
type Act = Extract<ActorRequest, { type: 'act' }>;

export interface WorldOptions {
  readonly kind?: ActorKind;
  /** Sections of a script, or a provider of one's own. */
  readonly model: string | Provider;
  readonly files?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  readonly turns?: number;
  readonly entries?: readonly SessionEntry[];
  readonly rules?: readonly PermissionRule[];
  readonly context?: AgentDeps['context'];
}

const RECORDED = new Set(['answer', 'result', 'permit', 'act']);
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/**
 * A supervisor in memory, for one actor: its journal, its mailbox, its tree, and what it was asked. It can crash before
 * or after it records a request; a new incarnation of the agent then finds what was recorded.
 */
export class World {
  readonly clock: VirtualClock = new VirtualClock();
  readonly tree: MemoryTree;
  readonly outputs: MemoryOutputs = new MemoryOutputs();
  readonly journal: PlacedEntry[] = [];
  readonly mailbox: Envelope[] = [];
  readonly seen: Set<number> = new Set<number>();
  /** Requests and what became of them, one line each. */
  readonly log: string[] = [];
  /** What commands did and whom messages went to, one line each. */
  readonly effects: string[] = [];
  readonly ran: string[] = [];
  readonly requests: ProviderRequest[] = [];
  workplace: Workplace | null = null;
  /** Answer of a command; waits when it gives a promise. */
  onBash: (command: string) => Promise<{ ok: boolean; text: string }> = () =>
    Promise.resolve({ ok: true, text: 'exit 0' });
  onPermit: (tool: string) => Promise<ActorReply> = () => Promise.resolve({ type: 'permitted' });
  /** Crash at that recorded request, counted from 1. */
  crashes: { at: number; when: 'before' | 'after' }[] = [];
  /** Of the user, for a compaction. */
  wish: { readonly focus: string | null } | null = null;
  incarnations = 0;
  #onCompaction: () => void = () => undefined;
  #recorded = 0;
  #calls = 0;
  #running: Running | null = null;
  readonly #options: WorldOptions;
  readonly #provider: Provider;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.tree = new MemoryTree(options.files ?? {});
    this.#provider =
      typeof options.model === 'string' ? this.#scripted(options.model) : options.model;
    for (const entry of options.entries ?? []) this.#append([entry]);
  }

  assign(task: string, text = `Do ${task}.`): void {
    this.workplace = { task: asTaskId(task), root: '/tree', writable: true, fence: 1 };
    this.send(text, { type: 'task.assign', task: asTaskId(task) });
  }

  send(text: string, more: Partial<Envelope> & { lane?: Lane } = {}): void {
    const n = this.mailbox.length + 1;
    const envelope: Envelope = {
      v: 1,
      n,
      seq: this.journal.length + 1,
      id: asEnvelopeId(`env_${n}`),
      at: isoTime(this.clock.now()),
      to: asActorName('ada'),
      from: asActorName('user'),
      fromIncarnation: 0,
      lane: 'normal',
      type: 'chat.message',
      body: { text },
      ...more,
    };
    this.mailbox.push(envelope);
    this.#running?.push([envelope]);
  }

  /** Runs until the agent rests with all mail seen (or ends); restarts it after each crash. */
  async settle(): Promise<AgentEnd | 'resting'> {
    for (;;) {
      const running = (this.#running ??= this.#start());
      const outcome = await this.clock.runUntil(
        Promise.race([
          running.end,
          running.resting(),
          running.crashed.then(() => 'crashed' as const),
        ]),
      );
      if (outcome === 'resting') return outcome;
      this.#running = null;
      if (outcome !== 'crashed') return outcome;
      await running.end;
    }
  }

  /** As `troupe compact` does it. */
  wantCompaction(wish: { readonly focus: string | null }): void {
    this.wish = wish;
    this.#running?.wake();
  }

  /** Resolves when the next compaction is recorded. */
  async compacted(): Promise<void> {
    await this.clock.runUntil(
      new Promise<void>((resolve) => {
        this.#onCompaction = resolve;
      }),
    );
  }

  start(): void {
    this.#running ??= this.#start();
  }

  async stop(): Promise<AgentEnd> {
    const running = this.#running;
    if (running === null) throw new Error('not running');
    running.controller.abort();
    this.#running = null;
    return running.end;
  }

  /** The transcript, one line an entry. */
  transcript(): string[] {
    return this.journal.map(({ entry }) => {
      if (entry.type === 'mail') return `mail ${entry.items.map((item) => item.text).join(' + ')}`;
      if (entry.type === 'result') {
        const mark = entry.ok ? '' : '! ';
        return `  ${entry.tool}: ${mark}${entry.text.replaceAll('\n', ' / ')}`;
      }
      if (entry.type === 'compaction') return `compaction ${entry.cause} ${entry.by}`;
      const parts = entry.content.map((block) =>
        block.type === 'text' ? block.text : `[${block.name}]`,
      );
      return `answer ${parts.join(' ')}`;
    });
  }

  allSeen(): boolean {
    return this.mailbox.every((envelope) => this.seen.has(envelope.n));
  }

  #start(): Running {
    this.incarnations += 1;
    const running = new Running(this);
    running.push(this.mailbox.filter((envelope) => !this.seen.has(envelope.n)));
    running.begin((port, signal) => runAgent(this.#deps(port), signal));
    return running;
  }

  #deps(port: AgentPort): AgentDeps {
    const { kind = 'teammate', prompt = null, turns = 50 } = this.#options;
    const start: ActorStart = {
      run: 'r',
      name: asActorName('ada'),
      kind,
      incarnation: this.incarnations,
      epoch: this.incarnations,
      profile: {
        name: 'implementer',
        description: '',
        prompt: '',
        model: null,
        tools: null,
        restart: 'transient',
      },
      model: 'scripted/demo.yaml',
      scripts: {},
      system: 'You are ada.',
      tools: toolsForKind(kind),
      limits: { parallel: 4, turns, depth: 2, fanout: 4 },
      permissions: { default: 'allow', rules: this.#options.rules ?? [], attended: false },
      journalDirectory: '/journal',
      outputsDirectory: '/outputs',
      workplace: this.workplace,
      prompt,
      upToSeq: this.journal.length,
    };
    return {
      start,
      port,
      provider: this.#provider,
      model: 'demo.yaml',
      clock: this.clock,
      entries: [...this.journal],
      ...(this.#options.context === undefined ? {} : { context: this.#options.context }),
      treeAt: () => this.tree,
      outputs: this.outputs,
      limitWork: (work) => {
        work();
        return true;
      },
    };
  }

  #scripted(sections: string): Provider {
    const parsed = parseScript(`version: 1\nsections:\n${sections}`, 'demo.yaml');
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const provider = makeScriptedProvider({
      script: parsed.script,
      clock: this.clock,
      callId: () => asCallId(`c${(this.#calls += 1)}`),
    });
    return {
      name: 'scripted',
      stream: (request, signal) => {
        this.requests.push(request);
        return provider.stream(request, signal);
      },
    };
  }

  /** Whether to crash, and when, at this request. */
  crashFor(request: ActorRequest): 'before' | 'after' | null {
    if (!RECORDED.has(request.type)) return null;
    this.#recorded += 1;
    const [next] = this.crashes;
    if (next === undefined || next.at > this.#recorded) return null;
    this.crashes.shift();
    return next.when;
  }

  async serve(request: ActorRequest, running: Running): Promise<ActorReply> {
    switch (request.type) {
      case 'answer':
        for (const n of request.took) this.seen.add(n);
        return { type: 'committed', seq: this.#append(request.entries) };
      case 'result':
        return { type: 'committed', seq: this.#append(request.entries) };
      case 'permit':
        this.ran.push(request.call);
        return this.onPermit(request.tool);
      case 'act':
        this.ran.push(request.call);
        return this.#act(request, running);
      case 'idle':
        running.rest();
        this.log.push(`idle ${request.why}`);
        return { type: 'noted' };
      case 'stuck':
        running.rest();
        this.log.push(`stuck ${request.code}: ${request.message}`);
        return { type: 'noted' };
      case 'delivered':
        this.log.push(`delivered ${request.n.join(',')}`);
        return { type: 'noted' };
      case 'reserve':
        if (this.log.some((line) => line.startsWith('quota '))) {
          running.rest();
          return never();
        }
        return { type: 'granted', maxTokens: request.maxTokens };
      case 'settle':
        if (request.limited?.kind === 'quota') this.log.push(`quota ${request.limited.text}`);
        return { type: 'noted' };
      case 'team':
        return { type: 'team', text: '- bo: teammate, implementer' };
      case 'begun':
      case 'live':
        return { type: 'noted' };
    }
  }

  async #act(request: Act, running: Running): Promise<ActorReply> {
    const input = request.input as Record<string, unknown>;
    const done = (ok: boolean, text: string): ActorReply => {
      const result: ResultEntry = {
        type: 'result',
        call: request.call,
        tool: request.tool,
        ok,
        text,
      };
      this.#append([result]);
      return { type: 'acted', result };
    };
    if (request.tool === 'bash') {
      const command = String(input['command']);
      this.effects.push(`bash ${command}`);
      const outcome = await Promise.race([
        this.onBash(command),
        running.cut.then(() => ({ ok: false, text: 'interrupted by mail' })),
      ]);
      return running.dead ? never() : done(outcome.ok, outcome.text);
    }
    if (request.tool === 'send_message') {
      this.effects.push(`to ${String(input['to'])}: ${String(input['text'])}`);
      return done(true, 'accepted');
    }
    if (request.tool === 'complete_task' || request.tool === 'fail_task') {
      this.effects.push(request.tool);
      this.workplace = { task: null, root: '/tree', writable: false, fence: 0 };
      return done(true, 'noted');
    }
    if (request.tool === 'claim_task') {
      const task = asTaskId(String(input['id'])) satisfies TaskId;
      this.workplace = { task, root: '/tree', writable: true, fence: 2 };
      return done(true, 'yours');
    }
    if (request.tool === 'get_task') return { type: 'refused', reason: 'the rule "no" says so' };
    return {
      type: 'failed',
      error: { code: 'test/none', message: `no ${request.tool} here`, hint: 'try later' },
    };
  }

  #append(entries: readonly SessionEntry[]): number {
    const seq = (this.journal.at(-1)?.seq ?? 0) + 1;
    const at = isoTime(this.clock.now());
    for (const entry of entries) {
      this.journal.push({ seq, at, entry });
      if (entry.type === 'compaction') this.#onCompaction();
    }
    return seq;
  }
}

/** One incarnation of the agent, and its line to the world. */
class Running implements AgentPort {
  readonly controller: AbortController = new AbortController();
  readonly crashed: Promise<void>;
  end: Promise<AgentEnd> = never();
  /** Resolves at each interrupt mail. */
  cut: Promise<void> = never();
  dead = false;
  readonly #world: World;
  readonly #queue: Envelope[] = [];
  readonly #waiters: (() => void)[] = [];
  readonly #handlers = new Set<() => void>();
  #crash: () => void = () => undefined;
  #cut: () => void = () => undefined;
  #resting = false;
  #onRest: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
    this.crashed = new Promise((resolve) => {
      this.#crash = resolve;
    });
    this.#armCut();
  }

  begin(run: (port: AgentPort, signal: AbortSignal) => Promise<AgentEnd>): void {
    this.end = run(this, this.controller.signal);
  }

  push(envelopes: readonly Envelope[]): void {
    if (envelopes.length === 0) return;
    this.#resting = false;
    this.#queue.push(...envelopes);
    for (const wake of this.#waiters.splice(0)) wake();
    if (!envelopes.some(({ lane }) => lane === 'interrupt' || lane === 'control')) return;
    for (const handler of this.#handlers) handler();
    this.#cut();
    this.#armCut();
  }

  wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  rest(): void {
    this.#resting = true;
    for (const call of this.#onRest.splice(0)) call();
  }

  resting(): Promise<'resting'> {
    if (this.#resting && this.#queue.length === 0) return Promise.resolve('resting');
    return new Promise((resolve) => {
      this.#onRest.push(() => {
        if (this.#queue.length === 0) resolve('resting');
        else void this.resting().then(resolve);
      });
    });
  }

  async request(request: ActorRequest): Promise<ActorReply> {
    // A round trip, as between threads.
    await Promise.resolve();
    if (this.dead) return never();
    // The order matters: a crash after the record is one whose reply was lost.
    const crash = this.#world.crashFor(request);
    if (crash === 'before') return this.#die();
    const reply = await this.#world.serve(request, this);
    if (this.dead) return never();
    return crash === 'after' ? this.#die() : (JSON.parse(JSON.stringify(reply)) as ActorReply);
  }

  takeMail(): readonly Envelope[] {
    return this.#queue.splice(0);
  }

  takeCompaction(): { readonly focus: string | null } | null {
    const wish = this.#world.wish;
    this.#world.wish = null;
    return wish;
  }

  waitForMail(signal: AbortSignal): Promise<void> {
    if (this.#queue.length > 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push(resolve);
      signal.addEventListener('abort', () => {
        reject(new Error('stopped'));
      });
    });
  }

  onInterrupt(handler: () => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  rules(): null {
    return null;
  }

  workplace(): Workplace | null {
    return this.#world.workplace;
  }

  #die(): Promise<ActorReply> {
    this.dead = true;
    this.controller.abort();
    this.#crash();
    return never();
  }

  #armCut(): void {
    this.cut = new Promise((resolve) => {
      this.#cut = resolve;
    });
  }
}
