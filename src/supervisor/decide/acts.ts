/**
 * Calls that the supervisor runs for an actor: mail, the task graph, commands, subagents. The result is committed as a
 * step record, in one line with the mail it sends and the tasks it changes (design §3).
 */
import { asActorName, asTaskId, isName, nearMatches } from '../../kernel/index.ts';
import { checkSend, sendError } from '../../mailbox/index.ts';
import { type Judgement, judgeCall } from '../../permissions/index.ts';
import {
  type ActorRequest,
  type MailDraft,
  NO_USAGE,
  type TaskSpec,
  type Usage,
  type Workplace,
} from '../../protocol/index.ts';
import {
  ATTEMPTS_DEFAULT,
  canClaim,
  type TaskNode,
  taskRows,
  validateTasks,
} from '../../tasks/index.ts';
import { parseCall } from '../../tools/index.ts';
import type { Draft } from '../draft.ts';
import { BASH_TIMEOUT_MAX_MS, BASH_TIMEOUT_MS } from '../limits.ts';
import { reasonContext } from '../rows.ts';
import { startActor } from './actors.ts';
import type { Asking } from './asking.ts';
import { broadcast, directoryOf, EVERYBODY, park } from './mail.ts';
import { finishAct } from './results.ts';
import { heldTask, placeHolder, rulesOf, workplaceOf } from './roster.ts';
import { endAttempt } from './task-ends.ts';
import { claim } from './tasks.ts';

type Act = Extract<ActorRequest, { type: 'act' }>;
type Input = Readonly<Record<string, unknown>>;

export function decideAct(asking: Asking, draft: Draft, act: Act): Draft {
  const parsed = parseCall({ name: act.tool, input: act.input }, [act.tool]);
  if (parsed.kind !== 'ok') return finishAct(asking, draft, act, { ok: false, text: parsed.text });
  const input = parsed.input as Input;
  switch (act.tool) {
    case 'send_message':
      return sendMessage(asking, draft, act, input);
    case 'create_task':
      return createTask(asking, draft, act, input);
    case 'list_tasks':
      return finishAct(asking, draft, act, { ok: true, text: listTasks(asking) });
    case 'get_task':
      return getTask(asking, draft, act, input);
    case 'claim_task':
      return claimTask(asking, draft, act, input);
    case 'complete_task':
      return endTask(asking, draft, act, input);
    case 'fail_task':
      return endTask(asking, draft, act, input);
    case 'bash':
      return bash(asking, draft, act, input);
    case 'task':
      return subagent(asking, draft, act, input);
    default:
      return finishAct(asking, draft, act, {
        ok: false,
        text: `the tool ${act.tool} is not run by the supervisor`,
      });
  }
}

function text(input: Input, field: string): string {
  const value = input[field];
  return typeof value === 'string' ? value : '';
}

function sendMessage(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, actor } = asking;
  const lane = input['lane'];
  const mail: MailDraft = {
    to: text(input, 'to'),
    lane: lane === 'interrupt' || lane === 'bulk' ? lane : 'normal',
    type: 'chat.message',
    body: { text: text(input, 'text'), ...asking.payload },
  };
  if (mail.to === actor.name) {
    return finishAct(asking, draft, act, { ok: false, text: 'you cannot send mail to yourself' });
  }
  if (mail.to === EVERYBODY) {
    const names = broadcast(draft, asking.live, { from: draft.sender(actor.name), draft: mail });
    return finishAct(asking, draft, act, { ok: true, text: `accepted for ${names.join(', ')}` });
  }
  const check = checkSend(state.mail, mail, directoryOf(state, asking.happening.now), {
    from: actor.name,
  });
  if (check.kind === 'unknown' || check.kind === 'full') {
    const error = sendError(mail.to, check);
    const hint = error?.hint === undefined ? '' : `. ${error.hint}`;
    return finishAct(asking, draft, act, { ok: false, text: `${error?.message ?? ''}${hint}` });
  }
  const sent = draft.send(mail, draft.sender(actor.name));
  if (check.kind === 'stopped') {
    park(draft, asking.live, { sent, n: (state.mail.boxes.get(mail.to)?.last ?? 0) + 1 });
    return finishAct(asking, draft, act, {
      ok: false,
      text: `${mail.to} is stopped; the message is kept as a dead letter`,
    });
  }
  asking.live.mailDirty.add(sent.to);
  return finishAct(asking, draft, act, { ok: true, text: `accepted: ${sent.id} to ${mail.to}` });
}

function createTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const id = text(input, 'id');
  const run = input['run'];
  const agent = input['agent'];
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  if (!isName(id)) return refuse(`"${id}" is not a task id: use [a-z0-9][a-z0-9_-]*, at most 48`);
  if (typeof agent === 'string' && state.file.team.agents[agent] === undefined) {
    const choices = Object.keys(state.file.team.agents).join(', ');
    return refuse(`there is no agent profile "${agent}"; choose one of: ${choices}`);
  }
  const commands = [...(typeof run === 'string' ? [run] : []), ...strings(input['verify'])];
  for (const command of commands) {
    const judged = judgeCommand(asking, command);
    if (judged.action !== 'allow') {
      return refuse(`the command \`${command}\` is not allowed: ${judged.reason}`);
    }
  }
  const spec: TaskSpec = {
    id: asTaskId(id),
    title: text(input, 'title') || id,
    prompt: typeof run === 'string' ? null : text(input, 'prompt') || text(input, 'title'),
    run: typeof run === 'string' ? run : null,
    needs: strings(input['needs']).map(asTaskId),
    agent: typeof agent === 'string' ? agent : null,
    touches: strings(input['touches']),
    verify: strings(input['verify']).map((command) => ({
      kind: 'command' as const,
      run: command,
      retries: 0,
      timeoutMs: 600_000,
    })),
    attempts: ATTEMPTS_DEFAULT,
    timeoutMs: 1_800_000,
  };
  const problems = validateTasks([spec], state.graph);
  if (problems.length > 0) return refuse(problems.map((problem) => problem.message).join('; '));
  draft.task({ type: 'task.added', task: spec, by: actor.name });
  live.dirty.add(spec.id);
  return finishAct(asking, draft, act, { ok: true, text: `task ${id} is in the graph` });
}

/** A command of a model is a bash call of that model (design §7): judged when the task is made. */
function judgeCommand({ state, actor }: Asking, command: string): Judgement {
  return judgeCall({ tool: 'bash', input: { command } }, rulesOf(state.file), {
    actor: actor.name,
    root: workplaceOf(state, actor.name)?.root ?? null,
  });
}

function strings(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is string => typeof item === 'string');
}

function rowsOf(asking: Asking, ids?: TaskNode['spec']['id'][]): ReturnType<typeof taskRows> {
  const { state, happening } = asking;
  const usageOf = (id: TaskNode['spec']['id']): Usage => state.usage.byTask.get(id) ?? NO_USAGE;
  return taskRows(state.graph, { ...reasonContext(state, happening.now), usageOf }, ids);
}

function listTasks(asking: Asking): string {
  const rows = rowsOf(asking);
  if (rows.length === 0) return 'There are no tasks yet.';
  return rows
    .map((row) => {
      const owner = row.owner === null ? '' : ` · ${row.owner}`;
      const reason = row.reason === null ? '' : ` · ${row.reason.text}`;
      return `${row.id} [${row.state}]${owner} ${row.title}${reason}`;
    })
    .join('\n');
}

function getTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const id = asTaskId(text(input, 'id'));
  const node = asking.state.graph.nodes.get(id);
  if (node === undefined) return unknownTask(asking, draft, act, id);
  const [row] = rowsOf(asking, [id]);
  const { prompt, run, touches, verify } = node.spec;
  const shown = { ...row, prompt, run, touches, verify, summary: node.summary, gates: node.gates };
  return finishAct(asking, draft, act, { ok: true, text: JSON.stringify(shown, null, 2) });
}

function unknownTask(asking: Asking, draft: Draft, act: Act, id: string): Draft {
  const near = nearMatches(id, asking.state.graph.nodes.keys());
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  return finishAct(asking, draft, act, { ok: false, text: `there is no task "${id}"${hint}` });
}

function claimTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, facts } = asking;
  const id = text(input, 'id');
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const held = heldTask(state, actor.name);
  if (held !== null) return refuse(`you work on ${held.spec.id}: complete or fail it first`);
  const outcome = canClaim(state.graph, id, {
    by: actor.name,
    profile: facts.profile.name,
    parallel: state.file.team.limits.parallel,
  });
  switch (outcome.kind) {
    case 'unknown':
      return unknownTask(asking, draft, act, id);
    case 'lost':
      return refuse(`${id} was claimed by ${outcome.owner}`);
    case 'not-ready':
      return refuse(`${id} is ${outcome.state}: ${outcome.reason.text}`);
    case 'ok':
      break;
  }
  claim(draft.about('task', actor), live, { node: outcome.node, by: actor.name });
  live.acts.set(act.call, {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call: act.call,
    tool: act.tool,
    task: outcome.node.spec.id,
  });
  return draft;
}

/** `complete_task` and `fail_task`: the worker's word; what follows is the runtime's (T4). */
function endTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const node = heldTask(state, actor.name);
  const named = text(input, 'task');
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  if (node === null || node.state !== 'running') return refuse('you have no task to end');
  if (named !== '' && named !== node.spec.id) {
    return refuse(`you work on ${node.spec.id}, not on ${named}`);
  }
  live.dirty.add(node.spec.id);
  const leaving = leave(asking);
  if (act.tool === 'complete_task') {
    draft.task({
      type: 'task.finished',
      id: node.spec.id,
      by: actor.name,
      summary: text(input, 'summary'),
    });
    return finishAct(asking, draft, act, {
      ok: true,
      text: `Noted. Your work on ${node.spec.id} is committed and its gates run now; you hear of it only when something is wrong.`,
      ...(leaving === null ? {} : { workplace: leaving }),
    });
  }
  const reason = text(input, 'reason');
  endAttempt(draft, live, {
    node,
    counts: 'attempt',
    reason: { kind: 'agent', ref: actor.name, text: `${actor.name} gave it up: ${reason}` },
    rework: `The worker before you gave it up: ${reason}`,
  });
  return finishAct(asking, draft, act, {
    ok: true,
    text: `Noted: ${node.spec.id} ends here.`,
    ...(leaving === null ? {} : { workplace: leaving }),
  });
}

/** The tree is the runtime's from now on: the worker may look, but no more write. */
function leave(asking: Asking): Workplace | null {
  const place = workplaceOf(asking.state, asking.actor.name);
  return place === null ? null : { ...place, task: null, writable: false, fence: 0 };
}

function bash(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const command = text(input, 'command');
  const place = workplaceOf(state, actor.name);
  const judged = place === null ? null : judgeCommand(asking, command);
  const why = judged === null ? 'you have no tree to work in' : refusalOf(judged);
  draft.decided({
    actor: actor.name,
    call: act.call,
    tool: 'bash',
    input: act.input,
    effect: why === null ? 'allow' : 'deny',
    rule: judged?.rule ?? 'no-tree',
    reason: why ?? judged?.reason ?? '',
  });
  if (why !== null || place === null) {
    return finishAct(asking, draft, act, { ok: false, text: `not run: ${why ?? ''}` });
  }
  // What rules allowed is what they read, word by word; the text as given stands in the decision.
  const run = judged?.command ?? command;
  const id = draft.nextProc();
  const pending = {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call: act.call,
    tool: act.tool,
    task: place.task,
  };
  live.acts.set(act.call, pending);
  live.commands.set(id, { kind: 'bash', act: pending });
  const asked = input['timeout_ms'];
  const timeoutMs =
    typeof asked === 'number' ? Math.min(asked, BASH_TIMEOUT_MAX_MS) : BASH_TIMEOUT_MS;
  draft.about('proc', actor).proc({
    type: 'proc.started',
    id,
    command: run,
    cwd: place.root,
    actor: actor.name,
    task: place.task,
  });
  return draft.effect({
    type: 'command.start',
    id,
    command: run,
    place: { kind: 'tree', path: place.root, restore: null, task: place.task },
    timeoutMs,
    tailOnly: false,
  });
}

function refusalOf(judged: Judgement): string | null {
  return judged.action === 'allow' ? null : judged.reason;
}

function subagent(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, facts } = asking;
  const { limits, agents } = state.file.team;
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const wanted = input['agent'];
  const profile = typeof wanted === 'string' ? agents[wanted] : facts.profile;
  if (profile === undefined) {
    return refuse(
      `there is no agent profile "${String(wanted)}"; choose one of: ${Object.keys(agents).join(', ')}`,
    );
  }
  if (facts.depth + 1 > limits.depth) {
    return refuse(`a subagent here would be nested deeper than limits.depth (${limits.depth})`);
  }
  const alive = [...state.actors.byName.values()].filter(
    (one) => one.parent === actor.name && live.actors.has(one.name),
  ).length;
  if (alive >= limits.fanout) {
    return refuse(`you have ${alive} subagents at work, as many as limits.fanout allows`);
  }
  const holder = placeHolder(state, actor.name);
  const count = [...state.actors.byName.values()].filter((one) => one.kind === 'subagent').length;
  const name = asActorName(`${holder.slice(0, 36)}-sub-${count + 1}`);
  const added = {
    name,
    kind: 'subagent' as const,
    profile,
    parent: actor.name,
    depth: facts.depth + 1,
  };
  draft.about('sup', actor).actor({ type: 'actor.added', ...added });
  startActor(draft, live, { ...added, incarnation: 1, epoch: 1, prompt: text(input, 'prompt') });
  if (input['background'] === true) {
    return finishAct(asking, draft, act, {
      ok: true,
      text: `${name} has started; its answer comes by mail`,
    });
  }
  live.acts.set(act.call, {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call: act.call,
    tool: `task:${name}`,
    task: null,
  });
  return draft;
}
