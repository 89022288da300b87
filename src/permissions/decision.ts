/** What goes into a decision and what comes out of it. */
import type { Effect } from '../protocol/team.ts';
import type { Resolve } from './paths.ts';

/** A call as it comes from a model: nothing in it says where or as whom it runs. */
export interface Call {
  readonly tool: string;
  readonly input: unknown;
}

/** Facts of the session, from the broker. */
export interface DecisionContext {
  /** Path of the actor, such as `run7/lead/ada`; its ancestors are the paths it begins with. */
  readonly actor: string;
  /** Root of its tree, absolute. */
  readonly root: string;
  /** Where it works now; by default the root. */
  readonly cwd?: string | undefined;
  /** Null when nobody knows it; then `~` is not known either. */
  readonly home: string | null;
  /** Whether somebody may be asked. */
  readonly attended: boolean;
  /** A sandbox of the operating system holds every command of this actor. */
  readonly sandboxed?: boolean | undefined;
  /** Whether the files that a rule pins are as they were when it was given; unset: no such rule allows. */
  readonly pinsHold?: ((rule: string, files: readonly string[]) => boolean) | undefined;
  readonly resolve?: Resolve | undefined;
}

/** One of the small facts that must each be allowed. */
export type Obligation =
  | { readonly kind: 'exec'; readonly argv: readonly string[] }
  | { readonly kind: 'read' | 'write' | 'delete' | 'list' | 'link'; readonly path: string }
  | { readonly kind: 'net'; readonly host: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'opaque'; readonly what: string }
  | { readonly kind: 'mcp'; readonly server: string; readonly name: string }
  | { readonly kind: 'spawn'; readonly profile: string }
  | { readonly kind: 'escalate'; readonly what: string };

export interface Decision {
  readonly action: Effect;
  /** Id of the rule that decided; else `floor`, `malformed`, `structure`, `read-only`, `team`, `sandbox` or `default`. */
  readonly rule: string;
  /** For the model and for people. */
  readonly reason: string;
  /** Made when asked for: what the call does, one fact each. */
  readonly obligations: () => readonly Obligation[];
  /** What a rule-based allow of a command runs instead of the text that was given; null for everything else. */
  readonly canonical: () => string | null;
  /** Globs below the root that a search must leave out, since reading them is denied. */
  readonly excludes: readonly string[];
  /** Whether a person may be offered to have it allowed from now on. */
  readonly grantable: boolean;
  readonly revision: string;
  /** Work that it took (`STEPS_MAX`), for tests and measurements. */
  readonly steps: number;
}

/**
 * What an approval binds to (P15): everything that decides, in one text of fixed form. `sha256` of it is the digest that
 * an answer must carry.
 */
export function digestText(call: Call, decision: Decision, context: DecisionContext): string {
  const { actor, root, cwd, home } = context;
  return JSON.stringify({
    actor,
    root,
    cwd: cwd ?? root,
    home,
    tool: call.tool,
    input: call.input,
    obligations: decision.obligations(),
    revision: decision.revision,
  });
}
