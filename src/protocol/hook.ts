/**
 * Hooks (permissions §2.1, §2.5 step 10): commands of a person that look at what happens. They may tighten, add context or
 * rewrite an input; nothing they say allows anything.
 */
import type { ActorName, CallId, TaskId } from '../kernel/ids.ts';

export const HOOK_EVENTS = [
  'before_tool',
  'after_tool',
  'ask',
  'task_ready',
  'task_finished',
  'run_finished',
  'actor_idle',
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface Hook {
  /** Unique in a run; rules of decisions name it as `hook:<id>`. */
  readonly id: string;
  readonly on: HookEvent;
  /** Only these tools; null: every call but reads. `*`: every call. */
  readonly tools: readonly string[] | null;
  /** A shell command. */
  readonly run: string;
  readonly timeoutMs: number;
  /** File that it stands in. */
  readonly origin: string;
}

/** `failed`: it crashed, hung or said what no hook can say; that closes. */
export type HookOutcome = 'none' | 'deny' | 'ask' | 'rewrite' | 'failed';

/** What one hook said, as recorded. */
export interface HookFact {
  readonly hook: string;
  readonly on: HookEvent;
  readonly outcome: HookOutcome;
  readonly actor?: ActorName;
  readonly call?: CallId;
  readonly tool?: string;
  readonly task?: TaskId;
  /** Of `ask`. */
  readonly ask?: string;
  readonly reason?: string;
  readonly context?: string;
  /** Of `rewrite`: what is called instead. */
  readonly input?: unknown;
  readonly ms: number;
}
