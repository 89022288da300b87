/**
 * A team as resolved from its team file: every default filled in, every duration in milliseconds, every profile found.
 * Stored whole in `run.json`, so that a run never depends on files that may change under it.
 */
import type { ActorName, TaskId } from '../kernel/ids.ts';
import type { Hook } from './hook.ts';
import type { ReplayPlan } from './replay-plan.ts';

export type Gate =
  | {
      readonly kind: 'command';
      readonly run: string;
      readonly retries: number;
      readonly timeoutMs: number;
    }
  /** An actor of this profile must approve the diff. */
  | { readonly kind: 'review'; readonly profile: string; readonly timeoutMs?: number };

export interface TaskSpec {
  readonly id: TaskId;
  readonly title: string;
  /** An agent task has a prompt, a command task has `run`; never both. */
  readonly prompt: string | null;
  readonly run: string | null;
  readonly needs: readonly TaskId[];
  /** Profile that may claim it; null: any teammate. */
  readonly agent: string | null;
  /** Globs of paths the task means to change; tasks whose globs overlap do not run side by side. */
  readonly touches: readonly string[];
  readonly verify: readonly Gate[];
  readonly attempts: number;
  readonly timeoutMs: number;
  /** Left out: as the profile says. `optional` says the same; `never` lifts what the profile asks for. */
  readonly plan?: PlanRule;
  /** Of all its attempts together. */
  readonly budget?: Share;
}

/** Whether a plan must be approved before anything is changed. */
export type PlanRule = 'required' | 'optional' | 'never';

export interface AgentProfile {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  /** `provider/model`; null: the team's. */
  readonly model: string | null;
  /** Models that stand in when its own can't be had, best first; left out: none. */
  readonly fallback?: readonly string[];
  /** Tool names; null: all that the kind of actor may have. */
  readonly tools: readonly string[] | null;
  /** Skills that it is told of; left out: all that there are. */
  readonly skills?: readonly string[];
  readonly restart: 'permanent' | 'transient' | 'temporary';
  /** Left out: `optional`. `never`: it is not asked for plans; a task may still require one. */
  readonly plan?: PlanRule;
  /** Of each actor of this profile, with its subagents and those that it brought in. */
  readonly budget?: Share;
  /** Tokens that a conversation of it may grow to, whatever its model takes; left out: the model's window. */
  readonly window?: number;
  /** Why nobody can be this; only where the team does not need it. */
  readonly unavailable?: string;
}

export interface MemberSpec {
  readonly name: ActorName;
  readonly agent: string;
}

/** Null: without a bound. */
export interface Budget {
  readonly usd: number | null;
  readonly tokens: number | null;
  readonly wallMs: number | null;
  /** Model answers; left out: without a bound. */
  readonly turns?: number | null;
}

/** What one task, or one actor with all that work for it, may spend; what is left out has no bound of its own. */
export interface Share {
  readonly usd?: number;
  readonly tokens?: number;
  readonly turns?: number;
}

export interface Limits {
  /** Tasks in state `running` at once. */
  readonly parallel: number;
  /** Model answers of one actor on one attempt of a task (or on one mail, without a task). */
  readonly turns: number;
  /** Nesting of subagents. */
  readonly depth: number;
  /** Live subagents of one actor at once. */
  readonly fanout: number;
  /** So many deaths of one actor within the period, and it is not started again; left out: 3 in a minute. */
  readonly restarts?: number;
  readonly restartPeriodMs?: number;
}

export type Effect = 'allow' | 'ask' | 'deny';

/** One word of a command: itself, one of several, or a glob of one word. */
export type TokenPattern = string | { readonly in: readonly string[] } | { readonly glob: string };

/** Text is a glob below the tree. A folder is `worktree`, `home`, `~/…` or absolute. */
export type PathPattern =
  | string
  | {
      readonly under?: string | undefined;
      readonly outside?: string | undefined;
      readonly glob?: string | undefined;
    };

/** A host by its exact name, or with all below it. */
export type HostPattern = string | { readonly domain: string };

/** What a rule looks at besides the tool; each that is given must fit. */
export interface RuleMatchers {
  /** The first words of a command. */
  readonly argv?: readonly TokenPattern[] | undefined;
  /** `argv` is all the words. */
  readonly exact?: boolean | undefined;
  readonly path?: PathPattern | undefined;
  readonly host?: HostPattern | undefined;
  /** A tool of a tool server, by its raw names. */
  readonly server?: string | undefined;
  readonly name?: string | undefined;
  readonly requires?: { readonly sandbox: boolean } | undefined;
  /** Files whose content is part of the permission. */
  readonly pins?: readonly string[] | undefined;
}

export interface PermissionRule extends RuleMatchers {
  readonly id: string;
  readonly effect: Effect;
  /** A tool name, several, or `*`. */
  readonly tool: string | readonly string[];
  readonly reason: string | null;
}

export const POLICY_MODES = [
  'ask',
  'accept-edits',
  'read-only',
  'auto-in-sandbox',
  'locked',
] as const;
export type PolicyMode = (typeof POLICY_MODES)[number];

export interface PolicyProfile {
  readonly extends?: string | undefined;
  readonly mode?: PolicyMode | undefined;
  readonly rules: readonly PermissionRule[];
}

/** A policy file (permissions §2.2) as read, its `tests` passed. */
export interface PolicyFile {
  readonly version: 1;
  readonly mode?: PolicyMode | undefined;
  readonly defaults: {
    readonly interactive?: Effect | undefined;
    readonly unattended?: 'deny' | undefined;
  };
  /** Profiles by patterns of actor paths. */
  readonly actors: Readonly<Record<string, { readonly profile: string }>>;
  readonly profiles: Readonly<Record<string, PolicyProfile>>;
  /** For every actor. */
  readonly rules: readonly PermissionRule[];
  /** Built-in rules that are taken away. */
  readonly lift: readonly string[];
  /** Line of each rule in its file, by id. */
  readonly lines?: Readonly<Record<string, number>> | undefined;
}

/** The short form of a team file, or a whole policy. */
export interface TeamPermissions {
  readonly default: Effect;
  /** Nobody wrote the default: another layer's word stands. */
  readonly unstated?: true | undefined;
  readonly mode?: PolicyMode | undefined;
  readonly rules: readonly PermissionRule[];
  readonly policy?: PolicyFile | undefined;
  readonly lines?: PolicyFile['lines'];
  /** How long a person is waited for; null: for ever; left out: ten minutes. */
  readonly askTimeoutMs?: number | null | undefined;
}

/** `sandbox` of a team file or of the config. */
export interface SandboxSettings {
  /** `auto`: when the machine has one. `required`: nothing starts without. */
  readonly mode: 'auto' | 'required' | 'off';
  /** Folders that commands may read or write besides; `~/…` or absolute. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Hosts that commands of agents reach; left out: none. `within`: the repository lets nobody open more than these. */
  readonly network?: {
    readonly allow: readonly string[];
    readonly within?: readonly string[];
  };
}

export interface Team {
  readonly version: 1;
  readonly name: string;
  readonly goal: string | null;
  readonly model: string | null;
  readonly budget: Budget;
  readonly limits: Limits;
  readonly base: string;
  readonly worktree: {
    readonly setup: readonly string[];
    readonly copy: readonly string[];
    readonly link: readonly string[];
    /** Folders whose files are in a tree, and those right above them; left out: all. */
    readonly sparse?: readonly string[];
    /** Clean trees that are kept ready; left out: none. */
    readonly pool?: number;
    /** Folder under which the trees lie; null: the state folder of the user. */
    readonly root: string | null;
  };
  /** All profiles that the team can name, by name: the file's own and the built-in ones. */
  readonly agents: Readonly<Record<string, AgentProfile>>;
  readonly lead: MemberSpec | null;
  readonly teammates: readonly MemberSpec[];
  readonly tasks: readonly TaskSpec[];
  readonly merge: {
    readonly style: 'merge' | 'squash' | 'rebase';
    readonly verify: readonly Gate[];
    readonly touches: 'warn' | 'refuse' | 'ignore';
  };
  readonly finish: { readonly verify: readonly Gate[] };
  readonly permissions: TeamPermissions;
  /** Left out: none. */
  readonly hooks?: readonly Hook[];
  /** Left out by runs that are older than sandboxes: `auto`. */
  readonly sandbox?: SandboxSettings;
}

/** A file that people write; no link is followed out of its root. */
export interface MemoryPlace {
  readonly root: string;
  readonly path: string;
}

/** A skill as it was when the run started; what lies beside its SKILL.md is read where it is. */
export interface SkillFile {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly from: 'repository' | 'user' | 'shipped';
  /** Absolute path of its folder. */
  readonly root: string;
  /** What lies there besides, relative to the root. */
  readonly files: readonly string[];
}

/** `runs/<run>/run.json`. Unknown fields are kept by those who rewrite it. */
export interface RunFile {
  readonly version: 1;
  readonly id: string;
  readonly team: Team;
  /** Where the team file was, for messages; null for a team made in memory. */
  readonly teamFile: string | null;
  /** Script of the scripted provider by model reference, as read at the start. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Those that some profile of the team may load; left out: none. */
  readonly skills?: readonly SkillFile[];
  /** Where people write what is to be remembered; the last has the first word. */
  readonly memory?: readonly MemoryPlace[];
  readonly baseCommit: string;
  readonly workspace: string;
  /** Folder that holds this run's trees, one a task. */
  readonly treesRoot: string;
  /** The user's home folder, for rules and for the floor; absent: unknown. */
  readonly home?: string;
  /** False with `--headless`: each ask becomes a deny. */
  readonly attended: boolean;
  readonly createdAt: string;
  readonly troupe: string;
  /** Recorded answers beside it in the run's folder, by model reference (`replay/<run>`). */
  readonly cassettes?: Readonly<Record<string, string>>;
  /** The run is played from a recording: what the runtime chose then is chosen again. */
  readonly replay?: ReplayPlan;
}
