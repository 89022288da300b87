/**
 * What an agent asks of the world round it. The hosts implement `AgentPort` over a thread's message port, the tests in
 * memory; the same loop runs on both.
 */
import type { Clock, ErrorShape, Random } from '../kernel/index.ts';
import type { Note } from '../memory/index.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStart,
  Envelope,
  FailureData,
  PathFact,
  PlacedEntry,
  Provider,
  Rate,
  Workplace,
} from '../protocol/index.ts';
import type { Outputs, TreeFiles, WebAccess, WorkLimit } from '../tools/index.ts';
import type { ModelChoice } from './ask.ts';
import type { RequestMarks } from './request-mark.ts';

export interface AgentPort {
  /**
   * One reply for each request. `failed` means that nothing was recorded. `live` is for those who watch: nobody waits
   * for its reply. An `act` is answered when its tool has ended; the one who delivers interrupt mail to an actor ends
   * what it runs for that actor and answers with the (recorded) result. Rejects only when the far side is gone.
   */
  request(request: ActorRequest): Promise<ActorReply>;
  /** What was pushed since the last call, in the order given; mail that was not seen yet is pushed again at a start. */
  takeMail(): readonly Envelope[];
  /** Whether the user has asked for a compaction since the last call, and what is to be kept above all. */
  takeCompaction(): { readonly focus: string | null } | null;
  /** Resolves when `takeMail` or `takeCompaction` would give something; rejects with the signal's reason. */
  waitForMail(signal: AbortSignal): Promise<void>;
  /** Resolves when the next request may be made of what has come; left out: at once. Replays wait here. */
  readyToAsk?(signal: AbortSignal): Promise<void>;
  /** Calls back for each envelope of lane `interrupt` or `control`, after `takeMail` would give it. Returns the way out. */
  onInterrupt(handler: () => void): () => void;
  /** Where the actor works now: as pushed with mail, and as replies of `act` changed it. */
  workplace(): Workplace | null;
  /** What reads are judged by, as last told; null: as they were at the start. */
  rules(): ActorStart['permissions'] | null;
}

export interface AgentDeps {
  readonly start: ActorStart;
  readonly port: AgentPort;
  readonly provider: Provider;
  /** Without the provider's name. */
  readonly model: string;
  /** What it costs at most; left out: nobody knows, or nothing. */
  readonly rate?: Rate | null;
  /** Models that stand in when that one can't be had, best first. */
  readonly fallbacks?: readonly ModelChoice[];
  readonly clock: Clock;
  /** Spreads waits; without it they are exact. */
  readonly random?: Random;
  /** Its transcript so far. */
  readonly entries: readonly PlacedEntry[];
  readonly treeAt: (root: string) => TreeFiles;
  readonly outputs: Outputs;
  readonly limitWork: WorkLimit;
  readonly web?: WebAccess | undefined;
  /** All that is remembered, oldest first; left out: nothing. */
  readonly notes?: () => Promise<readonly Note[]>;
  /** Marks of requests beside their answers; left out: there are none. */
  readonly marks?: RequestMarks;
  /** What a path leads to on the disk; without it names stand for themselves. */
  readonly look?: ((path: string) => PathFact) | undefined;
  /** Left out: conversations are compacted only when the model itself says that they are too long. */
  readonly context?: ContextLimits;
}

export interface ContextLimits {
  /** Tokens that the model takes, request and answer together. */
  readonly window: number;
  /** Share of it at which the conversation is compacted. */
  readonly compactAt: number;
}

export type AgentEnd =
  /** A subagent's answer. */
  | { readonly kind: 'finished'; readonly text: string }
  /** A subagent can't go on. (Lead and teammates report it and wait for mail.) */
  | {
      readonly kind: 'stuck';
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      readonly data?: FailureData;
    }
  /** The signal aborted. What was open is closed at the next start. */
  | { readonly kind: 'stopped' }
  /** The far side refused a step (an old incarnation) or is gone. */
  | { readonly kind: 'failed'; readonly error: ErrorShape };
