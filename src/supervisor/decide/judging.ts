/**
 * The one way to a decision about a call of an actor: what rules and grants say, and all that a question about it must
 * say. Whoever runs something for a model (files, commands, tasks, later tool servers and jobs) asks here.
 *
 * Invariants
 * - P15 An approval counts for what it was given for: the same digest, made anew just before the call runs.
 */
import { actorOf } from '../../actors/index.ts';
import type { ActorName } from '../../kernel/index.ts';
import {
  type Call,
  factsResolver,
  type Granted,
  grantOfRule,
  grantRules,
  type Judgement,
  judgeCall,
  offerFor,
  pinsHold,
  touchesOf,
} from '../../permissions/index.ts';
import type { ActorRequest, CallFacts, Grant, GrantOffer } from '../../protocol/index.ts';
import type { Tightened } from '../hooks.ts';
import type { Happening } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { clip } from '../text.ts';
import { gateOf, planGate, readOnly } from './plan-gate.ts';
import { pathOf, rulesFor, workplaceOf } from './roster.ts';

/** Whose call it is; a request, or one that waits and is judged again. */
export interface Who {
  readonly state: RunState;
  readonly live: Live;
  readonly happening: Happening;
  readonly actor: { readonly name: ActorName };
  /** What the disk says of the call; unset: there is no disk, and names stand for themselves. */
  readonly disk?: CallFacts | undefined;
  readonly approval?: Approval | undefined;
  readonly tightened?: Tightened | undefined;
}

/** A person's yes to exactly this. */
export interface Approval {
  readonly digest: string;
  readonly by: string;
}

/** A decision; an `ask` has all that is needed to put it to a person. */
export interface Judged
  extends Pick<Judgement, 'action' | 'rule' | 'reason' | 'command' | 'revision' | 'layer'> {
  readonly digest: () => string;
  readonly touches: () => string[];
  readonly offer: () => GrantOffer | null;
}

export function judgeFor(who: Who, call: Call): Judged {
  const { state, actor, live, disk } = who;
  const root = workplaceOf(state, actor.name)?.root ?? null;
  const profile = profileOf(state, actor.name);
  const place = {
    actor: pathOf(state, actor.name),
    root,
    profile,
    ...(disk === undefined ? {} : { resolve: factsResolver(disk.paths), pins: disk.pins }),
  };
  const rules = rulesFor(state, live, actor.name);
  const judged = gated(who, call, judgeCall(call, rules, place, grantedTo(who, profile)));
  const tree = root ?? '/';
  return withWords(who, {
    action: judged.action,
    rule: judged.rule,
    reason: judged.reason,
    command: judged.command,
    revision: judged.revision,
    layer: judged.layer,
    digest: () => live.hash(judged.bound()),
    touches: () => touchesOf(judged.obligations(), tree),
    offer: () => {
      const { grantable, allowsWith: allows } = judged;
      return grantable
        ? offerFor({ obligations: judged.obligations(), root: tree, pins: disk?.pins, allows })
        : null;
    },
  });
}

/** A plan that is missing goes before all that rules allow; a command that only reads runs in the form that was read. */
function gated({ state, actor }: Who, call: Call, judged: Judgement): Judgement {
  if (judged.action === 'deny') return judged;
  const reason = planGate(state, actor.name, call);
  if (reason !== null) {
    return {
      ...judged,
      action: 'deny',
      rule: 'plan-gate',
      reason,
      layer: () => null,
      command: null,
      grantable: false,
    };
  }
  if (call.tool !== 'bash' || judged.command !== null || gateOf(state, actor.name) === null) {
    return judged;
  }
  return { ...judged, command: readOnly(state, actor.name, call.input)?.command ?? null };
}

/** A call that waits, judged as it was when it was made. */
export function judgeAsked(
  who: Who,
  { type, tool, input }: Extract<ActorRequest, { type: 'permit' | 'act' }>,
): Judged {
  if (type === 'permit' || tool === 'bash') return judgeFor(who, { tool, input });
  if (tool === 'schedule_cron') return judgeJob(who, { input, does: askedJob(input) });
  return tool === 'create_task'
    ? judgeCommands(who, commandsOfTask(input))
    : wordsOn(who, [tool, input]);
}

/** What a task that a model makes will run: its command and its gates. */
export function commandsOfTask(input: unknown): string[] {
  const { run, verify } = Object(input) as { readonly run?: unknown; readonly verify?: unknown };
  const commands = [run, ...(Array.isArray(verify) ? (verify as unknown[]) : [])];
  return commands.filter((command) => typeof command === 'string');
}

/** A command of a model is a bash call of that model (design §7): judged when the task is made. */
export function judgeCommands(who: Who, commands: readonly string[]): Judged {
  const each = commands.map((command) => ({
    command,
    judged: judgeFor(
      { ...who, approval: undefined, tightened: undefined },
      { tool: 'bash', input: { command } },
    ),
  }));
  const denied = each.find(({ judged }) => judged.action === 'deny');
  if (denied !== undefined) {
    const reason = `the command \`${denied.command}\` is not allowed: ${denied.judged.reason}`;
    return { ...denied.judged, reason };
  }
  const asks = each.filter(({ judged }) => judged.action === 'ask');
  const [first] = asks;
  if (first === undefined) return wordsOn(who, commands);
  return withWords(who, {
    ...first.judged,
    reason: `the command \`${first.command}\`: ${first.judged.reason}`,
    command: null,
    digest: () => who.live.hash(JSON.stringify(asks.map(({ judged }) => judged.digest()))),
    touches: () => asks.flatMap(({ judged }) => judged.touches()),
    offer: () => null,
  });
}

/**
 * A job that an actor makes (C12). What comes back to it is its own mail; what outlives its run (`does`) is a person's to
 * allow, each time or by a rule that names the tool; that everything is allowed for want of a rule is no such word.
 */
export function judgeJob(
  who: Who,
  { input, does }: { readonly input: unknown; readonly does: { readonly name: string } | null },
): Judged {
  const bare = { ...who, approval: undefined, tightened: undefined };
  const judged = judgeFor(bare, { tool: 'schedule_cron', input });
  if (judged.action === 'deny') return judged;
  const offer = (): null => null;
  if (does === null || (judged.action === 'allow' && judged.layer() !== null)) {
    return withWords(who, { ...judged, offer });
  }
  if (!who.state.file.attended) {
    const reason = 'a job that outlives its run needs a person, and nobody can be asked (headless)';
    return { ...judged, action: 'deny', rule: 'headless', reason, layer: () => null };
  }
  const profile = profileOf(who.state, who.actor.name);
  return withWords(who, {
    ...judged,
    action: 'ask',
    rule: 'cron',
    reason: 'it would start runs by itself, also after this one has ended',
    layer: () => null,
    digest: () => who.live.hash(JSON.stringify(['schedule_cron', profile, input])),
    touches: () => [jobText(input, does)],
    offer,
  });
}

/** What tells a job that outlives its run from one that does not. */
function askedJob(input: unknown): { readonly name: string } | null {
  const { agent, durable, name } = Object(input) as Readonly<Record<string, unknown>>;
  const lasts = durable ?? agent !== undefined;
  return lasts === true ? { name: String(name) } : null;
}

function jobText(input: unknown, job: { readonly name: string }): string {
  const { schedule, tz, agent, prompt } = Object(input) as Readonly<Record<string, unknown>>;
  const zone = typeof tz === 'string' ? tz : 'UTC';
  const whom = typeof agent === 'string' ? ` for ${agent}` : '';
  return `job ${job.name}: a run${whom} at ${JSON.stringify(schedule)} in ${zone}: ${clip(String(prompt), JOB_SHOWN_CHARS)}`;
}

const JOB_SHOWN_CHARS = 300;

const ALLOWED: Judged = {
  action: 'allow',
  rule: 'team',
  reason: 'it works on the team’s own records',
  command: null,
  revision: '',
  layer: () => null,
  digest: () => '',
  touches: () => [],
  offer: () => null,
};

/** What is not judged by rules, for want of anything in it that they are about: only hooks have a say. */
export function wordsOn(who: Who, about: unknown): Judged {
  if (who.tightened === undefined) return ALLOWED;
  const profile = profileOf(who.state, who.actor.name);
  return withWords(who, {
    ...ALLOWED,
    digest: () => who.live.hash(JSON.stringify(['hook', profile, about])),
  });
}

/** Hooks only tighten (P40), and what they want asked is asked each time; then a person's yes to exactly this counts. */
function withWords(who: Who, judged: Judged): Judged {
  return withApproval(who, tighten(who, judged));
}

const HOOK = (): string => 'hook';

function tighten({ state, tightened }: Who, judged: Judged): Judged {
  if (tightened === undefined || judged.action === 'deny') return judged;
  const { rule } = tightened;
  const offer = (): null => null;
  if (tightened.action === 'ask' && state.file.attended) {
    return { ...judged, action: 'ask', rule, layer: HOOK, reason: tightened.reason, offer };
  }
  const nobody = tightened.action === 'ask' ? ', and nobody can be asked (headless)' : '';
  return {
    ...judged,
    action: 'deny',
    rule,
    layer: HOOK,
    reason: `${tightened.reason}${nobody}`,
    command: null,
    offer,
  };
}

function withApproval({ approval }: Who, judged: Judged): Judged {
  if (judged.action !== 'ask' || approval === undefined) return judged;
  if (approval.digest !== judged.digest()) return judged;
  return {
    ...judged,
    action: 'allow',
    rule: 'approved',
    layer: () => null,
    reason: `allowed by ${approval.by}`,
  };
}

export function profileOf(state: RunState, name: ActorName): string {
  return actorOf(state.actors, name)?.profile.name ?? '';
}

function grantedTo({ state, live, happening, disk }: Who, profile: string): Granted {
  const grants = [...state.asks.grants.values(), ...live.grants.values()];
  return {
    rules: grants.length === 0 ? [] : grantRules(grants, { profile, nowMs: happening.now }),
    pinsHold: (rule) => {
      const grant = grantBehind(state, live, rule);
      return grant !== null && pinsHold(grant, disk?.pins);
    },
  };
}

/** The grant that a decision rests on; null: on something else. */
export function grantBehind(state: RunState, live: Live, rule: string): Grant | null {
  const id = grantOfRule(rule);
  return id === null ? null : (state.asks.grants.get(id) ?? live.grants.get(id) ?? null);
}

/** What a record of a decision says of where it comes from. */
export function sourceOf({ revision, layer }: Judged): { revision: string; layer?: string } {
  const name = layer();
  return { revision, ...(name === null ? {} : { layer: name }) };
}
