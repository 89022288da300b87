/**
 * Questions to a person and what was granted (permissions §2.9, §2.10). An ask is put once, ends once, and each step of it
 * is a change in a record.
 */
import type { ActorName, CallId, TaskId } from '../kernel/ids.ts';
import type { PayloadRef } from './payload.ts';
import type { PermissionRule } from './team.ts';

/** `once`: the calls that wait now · `run`: this profile in this run · `workspace`: every actor, until a date. */
export type GrantScope = 'once' | 'run' | 'workspace';

/** What a person may be offered to have allowed from now on. */
export interface GrantOffer {
  /** For people: `git status`, `write src/**`. */
  readonly pattern: string;
  readonly rules: readonly PermissionRule[];
  /** Files of the tree whose content is part of the permission, with their hashes; null: it is not there. */
  readonly pins: Readonly<Record<string, string | null>>;
}

export interface Grant extends GrantOffer {
  readonly id: string;
  readonly scope: 'run' | 'workspace';
  /** Of scope `run`: the only profile that it is for. */
  readonly profile: string | null;
  readonly by: string;
  readonly at: string;
  /** Null: as long as the run. */
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  /** The ask that it came from, and its run. */
  readonly ask: string;
  readonly run: string;
}

/** One call that waits for the answer. */
export interface AskWaiter {
  readonly actor: ActorName;
  readonly incarnation: number;
  /** From the member at the top to the actor itself. */
  readonly ancestry: readonly ActorName[];
  readonly call: CallId;
  readonly task: TaskId | null;
}

export interface AskBody extends Partial<PayloadRef> {
  readonly id: string;
  /** An answer binds to it: everything that decides about the call, and for which profile. */
  readonly digest: string;
  readonly profile: string;
  readonly tool: string;
  /** As the model gave it; with a reference, long texts are their heads. */
  readonly input: unknown;
  /** What the call does, in people's words. */
  readonly touches: readonly string[];
  readonly rule: string;
  readonly reason: string;
  /** Null: it may be allowed this once only. */
  readonly offer: GrantOffer | null;
  /** Null: never. */
  readonly expiresAt: string | null;
}

export type AskChange =
  | { readonly type: 'ask.put'; readonly ask: AskBody; readonly waiter: AskWaiter }
  /** The same question of somebody else of the profile: one answer serves both. */
  | { readonly type: 'ask.joined'; readonly id: string; readonly waiter: AskWaiter }
  /** Its time is nearly over. */
  | { readonly type: 'ask.warned'; readonly id: string }
  /** A new deadline: nobody could answer while no supervisor was there. */
  | { readonly type: 'ask.renewed'; readonly id: string; readonly expiresAt: string }
  | {
      readonly type: 'ask.answered';
      readonly id: string;
      readonly effect: 'allow' | 'deny';
      readonly scope: GrantScope;
      /** A person's client, or `grant:<id>` or `rules` when it needs no answer any more. */
      readonly by: string;
      readonly reason: string | null;
    }
  | { readonly type: 'ask.timed-out'; readonly id: string }
  /** One call does not wait any more; with the last one the ask ends. */
  | {
      readonly type: 'ask.withdrawn';
      readonly id: string;
      readonly call: CallId;
      readonly reason: string;
    }
  /** It asks about something that is not so any more; nothing of it can be answered. */
  | { readonly type: 'ask.superseded'; readonly id: string; readonly reason: string }
  /** The answer reached this call: it runs, or its refusal is told. At most once. */
  | { readonly type: 'ask.used'; readonly id: string; readonly call: CallId }
  | { readonly type: 'grant.given'; readonly grant: Grant }
  /** It is in the workspace journal as well. */
  | { readonly type: 'grant.kept'; readonly id: string }
  | { readonly type: 'grant.used'; readonly id: string }
  | { readonly type: 'grant.revoked'; readonly id: string; readonly by: string }
  /** Too many denials: the actor goes on when somebody has written to it. */
  | { readonly type: 'actor.paused'; readonly actor: ActorName; readonly text: string }
  | { readonly type: 'actor.unpaused'; readonly actor: ActorName };

/** As `approvals --json` shows it (design §13); an ask of several calls names them in `also`. */
export interface AskRow extends Partial<PayloadRef> {
  readonly id: string;
  readonly run: string;
  readonly actor: string;
  readonly ancestry: readonly string[];
  readonly also: readonly string[];
  readonly profile: string;
  readonly task: string | null;
  readonly tool: string;
  readonly input: unknown;
  readonly touches: readonly string[];
  readonly reason: string;
  readonly rule: string;
  readonly digest: string;
  readonly requestedAt: string;
  readonly expiresAt: string | null;
  /** What `--scope run` and `--scope workspace` would allow; null: only this once. */
  readonly offer: string | null;
}

/** As `rules --json` shows it. */
export interface GrantRow {
  readonly id: string;
  readonly scope: 'run' | 'workspace';
  readonly pattern: string;
  readonly profile: string | null;
  readonly run: string | null;
  readonly by: string;
  readonly at: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly pins: readonly string[];
  /** `active`, or why it counts no more. */
  readonly state: 'active' | 'expired' | 'unused';
}
