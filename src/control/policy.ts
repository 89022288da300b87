/**
 * Decisions on calls that somebody wrote down: what `troupe policy` does. Nothing is run.
 *
 * Invariants
 * - P13 Each line gives one decision with a reason, in order, whatever it contains.
 */
import {
  type Decision,
  type DecisionContext,
  evaluate,
  type Policy,
} from '../permissions/index.ts';
import type { ActiveRule, Verdict } from '../protocol/views.ts';

export type { ActiveRule, Verdict } from '../protocol/views.ts';

export interface CallJudge {
  readonly policy: Policy;
  /** Without actor and folder, which each call may name. */
  readonly context: DecisionContext;
}

/** One line of `policy check`: `{tool, input, actor?, cwd?}` to a decision. Never throws. */
export function judgeLine(line: string, judge: CallJudge): Verdict {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { action: 'deny', rule: 'malformed', reason: 'this is no JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      action: 'deny',
      rule: 'malformed',
      reason: 'a call is an object with `tool` and `input`',
    };
  }
  const { action, rule, reason } = judgeValue(value, judge);
  return { action, rule, reason };
}

function judgeValue(value: object, { policy, context }: CallJudge): Verdict {
  const field = (name: string): unknown =>
    Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  const tool = field('tool');
  const actor = field('actor') ?? context.actor;
  const cwd = field('cwd') ?? context.cwd ?? context.root;
  if (typeof tool !== 'string')
    return { action: 'deny', rule: 'malformed', reason: 'a call names its tool' };
  if (typeof actor !== 'string' || actor === '' || actor.length > 512) {
    return { action: 'deny', rule: 'malformed', reason: 'an actor is named by its path' };
  }
  if (typeof cwd !== 'string' || !/^\/[^\0]*$/s.test(cwd)) {
    return { action: 'deny', rule: 'malformed', reason: 'cwd is an absolute path' };
  }
  return evaluate({ tool, input: field('input') }, policy, { ...context, actor, cwd });
}

/** Longest line that is read; a longer one is answered without being looked at. */
const LINE_CHARS_MAX = 16 * 1024 * 1024;
const MEMO_LINES = 4_096;
const MEMO_CHARS = 2_048;

/** Answers each line of `input` with one line, as soon as it is there. `fresh`: forget what the disk looked like. */
export async function checkLines(
  input: AsyncIterable<Uint8Array>,
  judge: CallJudge,
  o: { readonly write: (text: string) => Promise<void>; readonly fresh: (() => void) | null },
): Promise<void> {
  // A call that is asked about again is answered again; with links on a disk, only within one piece of the input.
  const memo = new Map<string, string>();
  const answer = (line: string): string => {
    const known = memo.get(line);
    if (known !== undefined) return known;
    const made = `${JSON.stringify(judgeLine(line, judge))}\n`;
    if (line.length <= MEMO_CHARS) {
      if (memo.size >= MEMO_LINES) memo.clear();
      memo.set(line, made);
    }
    return made;
  };
  const decoder = new TextDecoder('utf-8');
  let held = '';
  let tooLong = false;
  const line = (rest: string): string => {
    const long = tooLong;
    const text = held === '' ? rest : held + rest;
    held = '';
    tooLong = false;
    if (long || text.length > LINE_CHARS_MAX) return TOO_LONG;
    return answer(text.endsWith('\r') ? text.slice(0, -1) : text);
  };
  for await (const chunk of input) {
    if (o.fresh !== null) {
      o.fresh();
      memo.clear();
    }
    const text = decoder.decode(chunk, { stream: true });
    let answers = '';
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      answers += line(text.slice(from, end));
      from = end + 1;
    }
    if (from < text.length) {
      if (held.length > LINE_CHARS_MAX) {
        tooLong = true;
        held = ' ';
      } else held += text.slice(from);
    }
    if (answers !== '') await o.write(answers);
  }
  const rest = decoder.decode();
  if (held !== '' || rest !== '') await o.write(line(rest));
}

const TOO_LONG = `${JSON.stringify({ action: 'deny', rule: 'malformed', reason: 'the line is too long' })}\n`;

export interface Explanation {
  readonly decision: Verdict & {
    readonly obligations: ReturnType<Decision['obligations']>;
    readonly runs: string | null;
  };
  /** Layer, file and line of the rule that decided. */
  readonly from: string | null;
  readonly mode: string | null;
  readonly fallback: string;
  readonly revision: string;
}

/** One call with all that was looked at. */
export function explainCall(
  call: { readonly tool: string; readonly input: unknown },
  judge: CallJudge,
): Explanation {
  const { policy, context } = judge;
  const decision = evaluate(call, policy, context);
  const actor = policy.forActor(context.actor);
  const { action, rule, reason } = decision;
  return {
    decision: {
      action,
      rule,
      reason,
      obligations: decision.obligations(),
      runs: decision.canonical(),
    },
    from: placeOf(
      policy,
      actor.rules.all.find((one) => one.id === rule && one.effect === action),
    ),
    mode: actor.mode,
    fallback: actor.fallback,
    revision: policy.revision,
  };
}

/** Every rule that counts for an actor, the file and line that it comes from, and what stands before it. */
export function activeRules(policy: Policy, actor: string): ActiveRule[] {
  const { all } = policy.forActor(actor).rules;
  return all.map((rule) => {
    const shadow = shadowOf(rule, all);
    return {
      id: rule.id,
      effect: rule.effect,
      tool: rule.tools === null ? '*' : [...rule.tools].join(', '),
      from: placeOf(policy, rule) ?? rule.origin,
      shadowedBy:
        shadow === undefined ? null : `${shadow.id} (${placeOf(policy, shadow) ?? shadow.origin})`,
    };
  });
}

type ActorRule = ReturnType<Policy['forActor']>['rules']['all'][number];

function placeOf(policy: Policy, rule: ActorRule | undefined): string | null {
  if (rule === undefined) return null;
  const layer = policy.layers.find((one) => one.origin === rule.origin);
  const place = rule.line === null ? rule.origin : `${rule.origin}:${rule.line}`;
  return layer === undefined ? place : `${layer.name}, ${place}`;
}

const STRICTER: Readonly<Record<ActorRule['effect'], readonly ActorRule['effect'][]>> = {
  allow: ['deny', 'ask'],
  ask: ['deny'],
  deny: [],
};

/** A stricter rule of the same tools about at least the same calls, as far as their words tell it. */
function shadowOf(rule: ActorRule, all: readonly ActorRule[]): ActorRule | undefined {
  const stricter = STRICTER[rule.effect];
  return all.find(
    (one) => stricter.includes(one.effect) && covers(one.tools, rule.tools) && isWider(one, rule),
  );
}

function covers(wide: ReadonlySet<string> | null, tools: ReadonlySet<string> | null): boolean {
  return wide === null || (tools !== null && [...tools].every((tool) => wide.has(tool)));
}

function isWider(wide: ActorRule, rule: ActorRule): boolean {
  const plain = wide.path === null && wide.host === null && wide.server === null;
  if (plain && wide.argv === null) return true;
  if (!plain || wide.argv === null || rule.argv === null) {
    return JSON.stringify(shapeOf(wide)) === JSON.stringify(shapeOf(rule));
  }
  if (wide.exact && !rule.exact) return false;
  return wide.argv.every((token, at) => {
    const own = rule.argv?.[at];
    if (own?.kind !== 'text' || token.kind !== 'text') return false;
    return [...own.texts].every((text) => token.texts.has(text));
  });
}

const wordOf = (token: ActorRule['name']): unknown =>
  token?.kind === 'text' ? [...token.texts] : token;

/** What two rules about paths, hosts or servers have to have in common to be about the same. */
function shapeOf({ path, host, server, name, argv }: ActorRule): unknown {
  const where =
    path === null ? null : { anchor: path.anchor, outside: path.outside, glob: path.glob };
  return { where, host, server, name: wordOf(name), argv: argv?.map(wordOf) };
}
