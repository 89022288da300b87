/**
 * Keeps a conversation within the model's window: when it nears it, when the model says that it is too long, and when
 * somebody asks. What it makes is one more entry of the transcript; the loop builds its next request from it.
 *
 * Invariants
 * - L26 Only between two turns, when no call is open. Before its record nothing has happened, after it all has: a crash in
 *   between costs the summary and nothing else.
 * - L27 No compaction follows another unless it makes the request much smaller; an agent whose request can't be made to fit
 *   stops with a reason (`agent/context-full`).
 */
import {
  type CompactionCause,
  type CompactionEntry,
  NO_USAGE,
  type PlacedEntry,
  type ProviderRequest,
  type ToolSpec,
  totalTokens,
  type Usage,
} from '../protocol/index.ts';
import {
  bytesOf,
  digestTurns,
  type Plan,
  planCompaction,
  sizeOf,
  tellTurns,
  textOf,
  viewOf,
} from '../sessions/index.ts';
import { ask, type Models } from './ask.ts';
import {
  clip,
  isAnswer,
  learnWindow,
  stillTooLong,
  summaryTokens,
  sumOf,
  tooFull,
} from './context-size.ts';
import type { Conversation } from './conversation.ts';
import { abortable, type Interrupts } from './interrupts.ts';
import {
  ANSWER_TOKENS_MAX,
  ANSWER_WINDOW_SHARE,
  BYTES_PER_CUT_RESULT,
  COMPACTIONS_IN_A_ROW,
  ESTIMATE_SLACK,
  KEEP,
  SHRINK_MIN,
  SUMMARY_BYTES_MAX,
  TOKENS_PER_BYTE,
  TOLD_WINDOW_SHARE,
  WORDS_PER_TOKEN,
} from './limits.ts';
import type { AgentDeps, ContextLimits } from './port.ts';
import type { Recorder } from './recorder.ts';
import { SUMMARY_SYSTEM, summaryPrompt } from './summary-prompt.ts';
import type { SystemHead } from './surroundings.ts';
import type { Toll } from './toll.ts';
import type { Trouble } from './trouble.ts';

export interface CompactorOptions {
  readonly deps: AgentDeps;
  readonly conversation: Conversation;
  readonly recorder: Recorder;
  readonly interrupts: Interrupts;
  readonly models: Models;
  readonly toll: Toll;
  readonly specs: readonly ToolSpec[];
  /** The system prompt as the next request has it. */
  readonly system: () => Promise<SystemHead>;
}

/** Of an agent that nobody told what its model takes: the model will say it. */
const UNKNOWN: ContextLimits = { window: 1_000_000, compactAt: 0.95 };

/** What would fail in the same way for the next answer. */
const SAME_FOR_ALL = new Set([
  'providers/quota',
  'providers/auth',
  'providers/no-access',
  'providers/no-such-model',
]);

interface Wish {
  readonly cause: CompactionCause;
  readonly focus: string | null;
  readonly before: number;
  readonly resting?: boolean;
}

interface Summary {
  readonly by: CompactionEntry['by'];
  readonly text: string;
  readonly usage: Usage;
  readonly reservation?: string | undefined;
}

export class Compactor {
  readonly #with: CompactorOptions;
  readonly #limits: ContextLimits;
  readonly #toolBytes: number;
  #system: SystemHead = { system: '', shared: [] };
  #fixedBytes = 0;
  /** As the last compaction measured it. */
  #tokensPerByte = TOKENS_PER_BYTE;
  #wish: { readonly focus: string | null } | null = null;

  constructor(options: CompactorOptions) {
    this.#with = options;
    this.#limits = options.deps.context ?? UNKNOWN;
    this.#toolBytes = bytesOf(JSON.stringify(options.specs));
  }

  /** Bound of one answer: small models have no room for a large one. */
  get answerTokens(): number {
    return Math.min(ANSWER_TOKENS_MAX, Math.floor(this.#window() * ANSWER_WINDOW_SHARE));
  }

  /**
   * Does what the user (by the port) or the agent (by its tool) asked for, if there is anything to compact. `resting`: the
   * agent has nothing to do, and goes on having nothing to do.
   */
  async whenAsked(resting: boolean): Promise<void> {
    this.#wish = this.#with.deps.port.takeCompaction() ?? this.#wish;
    const wish = this.#wish ?? this.#with.conversation.wantsCompaction();
    if (wish === null) return;
    await this.#lookAtSystem();
    const done = await this.#compact({
      cause: 'asked',
      focus: wish.focus,
      before: this.#estimate().tokens,
      resting,
    });
    if (done !== 'aborted') this.#wish = null;
  }

  /** Tokens of the next request, as far as is known. */
  get inputTokens(): number {
    return this.#estimate().tokens;
  }

  /** Before a request; null when it may be sent. */
  async makeRoom(signal: AbortSignal): Promise<Trouble | null> {
    await this.#lookAtSystem();
    const limit = this.#limit();
    let before = this.#estimate();
    if (before.tokens <= limit) return null;
    if (!before.measured) {
      before = { tokens: await this.#count(before.tokens, signal), measured: true };
      if (before.tokens <= limit) return null;
    }
    const done = await this.#compact({ cause: 'threshold', focus: null, before: before.tokens });
    if (typeof done === 'object') return done;
    if (done !== 'useless' || before.tokens + this.answerTokens <= this.#window()) return null;
    return tooFull(this.#with.deps.start, before.tokens, this.#window());
  }

  /** The model said that the conversation is too long; null when it may be asked again. */
  async afterOverflow(failure: Trouble): Promise<Trouble | null> {
    if (this.#inARow() >= COMPACTIONS_IN_A_ROW) return stillTooLong(failure);
    const before = this.#estimate().tokens;
    const done = await this.#compact({ cause: 'overflow', focus: null, before }, failure.message);
    if (done === 'useless') return stillTooLong(failure);
    return typeof done === 'object' ? done : null;
  }

  /** The configured window, or less when the model has turned out to take less. */
  #window(): number {
    const { start } = this.#with.deps;
    const { window } = this.#limits;
    const learnt = this.#with.conversation.entries.findLast(
      ({ entry }) =>
        entry.type === 'compaction' && entry.cause === 'overflow' && entry.model === start.model,
    );
    return learnt?.entry.type === 'compaction' ? Math.min(window, learnt.entry.window) : window;
  }

  #limit(): number {
    const window = this.#window();
    return Math.min(window * this.#limits.compactAt, window * ESTIMATE_SLACK - this.answerTokens);
  }

  /** Compactions since the last answer. */
  #inARow(): number {
    const { entries } = this.#with.conversation;
    const last = entries.findLastIndex(({ entry }) => entry.type === 'answer');
    return entries.slice(last + 1).filter(({ entry }) => entry.type === 'compaction').length;
  }

  /** Tokens of the next request: what the model counted for the last one (cached ones too), and what came since. */
  #estimate(): { readonly tokens: number; readonly measured: boolean } {
    const { fresh } = viewOf(this.#with.conversation.chapter());
    const at = fresh.findLastIndex(({ entry }) => entry.type === 'answer');
    const answer = fresh[at]?.entry;
    const counted = answer?.type === 'answer' ? totalTokens(answer.usage) : 0;
    if (counted > 0) {
      const since = sumOf(fresh.slice(at + 1));
      return { tokens: counted + Math.ceil(since * this.#tokensPerByte), measured: true };
    }
    return { tokens: Math.ceil(this.#requestBytes() * this.#tokensPerByte), measured: false };
  }

  async #lookAtSystem(): Promise<void> {
    const head = await this.#with.system();
    if (head === this.#system) return;
    this.#system = head;
    this.#fixedBytes = this.#toolBytes + bytesOf(head.system);
  }

  #requestBytes(): number {
    return this.#fixedBytes + bytesOf(JSON.stringify(this.#with.conversation.messages()));
  }

  /** As the provider counts it, where it can. */
  async #count(otherwise: number, signal: AbortSignal): Promise<number> {
    const { provider } = this.#with.deps;
    if (provider.countTokens === undefined) return otherwise;
    try {
      return await abortable(provider.countTokens(this.#request(), signal), signal);
    } catch {
      return otherwise;
    }
  }

  #request(): ProviderRequest {
    const { deps, conversation, specs } = this.#with;
    const { start, model } = deps;
    return {
      model,
      ...this.#system,
      tools: specs,
      messages: conversation.messages(),
      maxTokens: this.answerTokens,
      actor: start.name,
      profile: start.profile.name,
      task: deps.port.workplace()?.task ?? null,
    };
  }

  /** How many tokens a byte is for this model, by what it counted last. */
  #measure(): void {
    const { fresh } = viewOf(this.#with.conversation.chapter());
    const at = fresh.findLastIndex(({ entry }) => entry.type === 'answer');
    const answer = fresh[at]?.entry;
    if (answer?.type !== 'answer') return;
    const tokens = totalTokens(answer.usage) - answer.usage.outputTokens;
    const bytes = this.#requestBytes() - sumOf(fresh.slice(at));
    if (tokens > 0 && bytes > 0) {
      this.#tokensPerByte = Math.min(1, Math.max(TOKENS_PER_BYTE / 4, tokens / bytes));
    }
  }

  async #compact(wish: Wish, said = ''): Promise<'done' | 'useless' | 'aborted' | Trouble> {
    const { deps, conversation, recorder, interrupts } = this.#with;
    this.#measure();
    const window =
      wish.cause === 'overflow' ? learnWindow(this.#window(), wish.before, said) : this.#window();
    const plan = this.#plan(wish, window);
    if (plan === null) return 'useless';
    if (wish.resting !== true) recorder.live('thinking', '');
    const summary = await this.#summary(plan, { wish, window });
    if (summary === 'aborted' || 'code' in summary) return summary;
    const entry: CompactionEntry = {
      type: 'compaction',
      cause: wish.cause,
      ...(wish.focus === null ? {} : { focus: wish.focus }),
      by: summary.by,
      summary: summary.text,
      ...(await this.#team()),
      turns: viewOf(conversation.chapter()).gone.concat(plan.dropped).filter(isAnswer).length,
      keptFrom: plan.keptFrom,
      letters: plan.letters.map((item) => item.n),
      cut: await this.#saveCut(plan),
      before: wish.before,
      after: 0,
      model: deps.start.model,
      window,
      task: deps.port.workplace()?.task ?? null,
      usage: summary.usage,
    };
    if (interrupts.stopped) return 'aborted';
    const bytes = this.#fixedBytes + bytesOf(JSON.stringify(conversation.messages(entry)));
    const after = Math.ceil(bytes * this.#tokensPerByte);
    const { usage, reservation } = summary;
    const entries = [{ ...entry, after }];
    const put = reservation === undefined ? {} : { reservation };
    await recorder.commitAnswer({ type: 'answer', took: [], entries, usage, ...put });
    return 'done';
  }

  /** The mildest that makes enough room; null when none does. */
  #plan(wish: Wish, window: number): Plan | null {
    const chapter = this.#with.conversation.chapter();
    const perToken = 1 / this.#tokensPerByte;
    const first =
      wish.cause === 'overflow' ? this.#inARow() : wish.cause === 'asked' ? KEEP.length - 2 : 0;
    const goal = Math.min(wish.before, window * this.#limits.compactAt) * SHRINK_MIN;
    let best: { readonly plan: Plan; readonly tokens: number } | null = null;
    for (const keep of KEEP.slice(Math.min(first, KEEP.length - 1))) {
      const plan = planCompaction(chapter, {
        turnBytes: keep.turns * window * perToken,
        letterBytes: keep.letters * window * perToken,
        resultBytes: keep.results * window * perToken,
      });
      if (plan.dropped.length + plan.cut.length === 0) continue;
      const tokens = this.#tokensAfter(plan, window);
      if (best === null || tokens < best.tokens) best = { plan, tokens };
      if (tokens <= goal || wish.cause === 'asked') return plan;
    }
    // L27. What the model refused is made smaller by whatever there is; the count of tries bounds it.
    const enough =
      best !== null && (wish.cause === 'overflow' || best.tokens <= wish.before * SHRINK_MIN);
    return enough && best !== null ? best.plan : null;
  }

  #tokensAfter(plan: Plan, window: number): number {
    const cut = plan.cut.reduce((sum, entry) => sum + sizeOf(entry) - BYTES_PER_CUT_RESULT, 0);
    const letters = plan.letters.reduce((sum, item) => sum + bytesOf(item.text), 0);
    const bytes = this.#fixedBytes + sumOf(plan.kept) - cut + letters;
    const summary = plan.dropped.length === 0 ? 0 : summaryTokens(window) / 2;
    return Math.ceil(bytes * this.#tokensPerByte + summary);
  }

  async #summary(
    plan: Plan,
    about: { readonly wish: Wish; readonly window: number },
  ): Promise<Summary | 'aborted' | Trouble> {
    const { wish, window } = about;
    const { conversation } = this.#with;
    const { compaction, gone } = viewOf(conversation.chapter());
    const tokens = summaryTokens(window);
    const bytes = Math.min(SUMMARY_BYTES_MAX, Math.floor(tokens / this.#tokensPerByte));
    if (plan.dropped.length === 0) {
      return { by: compaction?.by ?? 'digest', text: compaction?.summary ?? '', usage: NO_USAGE };
    }
    const older: PlacedEntry[] =
      compaction === null ? [] : [{ seq: gone.at(-1)?.seq ?? 0, at: '', entry: compaction }];
    const turns = [...older, ...plan.dropped];
    const told = tellTurns(turns, Math.floor((window * TOLD_WINDOW_SHARE) / this.#tokensPerByte));
    const asked = await this.#askForSummary({ told, focus: wish.focus, tokens });
    if (asked.kind === 'aborted') return 'aborted';
    if (asked.kind === 'error') {
      if (wish.cause !== 'asked' && SAME_FOR_ALL.has(asked.code)) return asked;
      return { by: 'digest', text: digestTurns(turns, bytes), usage: NO_USAGE };
    }
    const text = textOf(asked).trim();
    const usable = text !== '' && asked.stop !== 'refusal';
    const { usage, reservation } = asked;
    return usable
      ? { by: 'model', text: clip(text, bytes), usage, reservation }
      : { by: 'digest', text: digestTurns(turns, bytes), usage, reservation };
  }

  #askForSummary(about: {
    readonly told: string;
    readonly focus: string | null;
    readonly tokens: number;
  }): ReturnType<typeof ask> {
    const { deps, models, toll, recorder, interrupts } = this.#with;
    const { told, focus, tokens } = about;
    const text = summaryPrompt({ told, focus, words: Math.floor(tokens * WORDS_PER_TOKEN) });
    const request: ProviderRequest = {
      ...this.#request(),
      system: SUMMARY_SYSTEM,
      shared: [],
      tools: [],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      maxTokens: tokens,
      purpose: 'summary',
    };
    const quiet = (): void => undefined;
    const onReset = (why: string): void => recorder.live('reset', why);
    const { clock, random } = deps;
    const input = Math.ceil(bytesOf(SUMMARY_SYSTEM + text) * this.#tokensPerByte);
    return ask(
      { models, toll, input, clock, random, onText: quiet, onThinking: quiet, onReset },
      request,
      interrupts.signal,
    );
  }

  async #team(): Promise<{ readonly team?: string }> {
    const reply = await this.#with.recorder.request({ type: 'team' });
    return reply.type === 'team' && reply.text !== '' ? { team: reply.text } : {};
  }

  /** Where each is whole: where it was saved already, or a new output file. */
  async #saveCut(plan: Plan): Promise<CompactionEntry['cut']> {
    const { deps, conversation } = this.#with;
    const { compaction } = viewOf(conversation.chapter());
    const saved = new Map(compaction?.cut.map(({ call, output }) => [call, output]));
    const cut: { call: CompactionEntry['cut'][number]['call']; output: string }[] = [];
    for (const { call, text, output: own } of plan.cut) {
      const output = own ?? saved.get(call) ?? (await deps.outputs.save(text)).path;
      cut.push({ call, output });
    }
    return cut;
  }
}
