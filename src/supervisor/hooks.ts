/** Hooks as decisions and effects know them: what is to be run, and what came of it. */
import type { ActorName, CallId, TaskId } from '../kernel/index.ts';
import type { ActorRequest, Hook, HookEvent, HookOutcome } from '../protocol/index.ts';

/** A hook's word on top of the rules: never more than they allow. */
export interface Tightened {
  readonly action: 'deny' | 'ask';
  /** `hook:<id>`. */
  readonly rule: string;
  readonly reason: string;
}

/** Hooks to be run one after the other, and for what. */
export interface HookWork {
  readonly id: string;
  readonly on: HookEvent;
  readonly hooks: readonly Hook[];
  /** What they read on their standard input, as JSON. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly actor?: ActorName;
  readonly call?: CallId;
  readonly tool?: string;
  readonly task?: TaskId;
  readonly ask?: string;
  /** Of `before_tool`: comes back with what the hooks made of its input. */
  readonly request?: {
    readonly name: ActorName;
    readonly incarnation: number;
    readonly epoch: number;
    readonly id: number;
    readonly asked: Extract<ActorRequest, { type: 'permit' | 'act' }>;
    /** Rewritten so often already. */
    readonly pass: number;
  };
}

/** What one hook said. */
export interface HookSaid {
  readonly hook: string;
  readonly outcome: HookOutcome;
  readonly reason?: string;
  readonly context?: string;
  readonly input?: unknown;
  readonly ms: number;
}

/** The words of those that were run; after a denial or a rewrite no further one is. */
export interface HookReport {
  readonly work: string;
  readonly pass: number;
  readonly said: readonly HookSaid[];
}
