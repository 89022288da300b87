/** The task graph as actors see and change it. */
import { asTaskId, isName, nearMatches } from '../../../kernel/index.ts';
import { NO_USAGE, type TaskSpec, type Usage, type Workplace } from '../../../protocol/index.ts';
import {
  ATTEMPTS_DEFAULT,
  canClaim,
  type TaskNode,
  taskRows,
  validateTasks,
} from '../../../tasks/index.ts';
import { breakerReason } from '../../breaker.ts';
import type { Draft } from '../../draft.ts';
import { reasonContext } from '../../rows.ts';
import type { Asking } from '../asking.ts';
import { putAsk } from '../asks/put.ts';
import { chooseProfile } from '../choose-profile.ts';
import { commandsOfTask, judgeCommands } from '../judging.ts';
import { finishAct } from '../results.ts';
import { heldTask, workplaceOf } from '../roster.ts';
import { endAttempt } from '../task-ends.ts';
import { claim, isHeldByBreaker } from '../tasks.ts';
import { type Act, type Input, strings, text } from './act.ts';

export function createTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const id = text(input, 'id');
  const run = input['run'];
  const agent = input['agent'];
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  if (!isName(id)) return refuse(`"${id}" is not a task id: use [a-z0-9][a-z0-9_-]*, at most 48`);
  // Who would be hired for it must be there, too.
  const { agents, teammates } = state.file.team;
  const usual = typeof run === 'string' || teammates.length > 0 ? null : 'implementer';
  const wanted = typeof agent === 'string' ? agent : usual;
  const profile = wanted === null ? null : chooseProfile(agents, wanted);
  if (typeof profile === 'string') return refuse(profile);
  const judged = judgeCommands(asking, commandsOfTask(input));
  if (judged.action === 'deny') return refuse(judged.reason);
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
  // Nobody is asked about a task that could not be made.
  if (judged.action === 'ask') return putAsk(asking, draft, act, judged);
  draft.task({ type: 'task.added', task: spec, by: actor.name });
  live.dirty.add(spec.id);
  return finishAct(asking, draft, act, { ok: true, text: `task ${id} is in the graph` });
}

function rowsOf(asking: Asking, ids?: TaskNode['spec']['id'][]): ReturnType<typeof taskRows> {
  const { state, happening } = asking;
  const usageOf = (id: TaskNode['spec']['id']): Usage => state.usage.byTask.get(id) ?? NO_USAGE;
  return taskRows(state.graph, { ...reasonContext(state, happening.now), usageOf }, ids);
}

export function listTasks(asking: Asking, draft: Draft, act: Act): Draft {
  const rows = rowsOf(asking);
  const lines = rows
    .map((row) => {
      const owner = row.owner === null ? '' : ` · ${row.owner}`;
      const reason = row.reason === null ? '' : ` · ${row.reason.text}`;
      return `${row.id} [${row.state}]${owner} ${row.title}${reason}`;
    })
    .join('\n');
  const shown = rows.length === 0 ? 'There are no tasks yet.' : lines;
  return finishAct(asking, draft, act, { ok: true, text: shown });
}

export function getTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
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

export function claimTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
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
  if (isHeldByBreaker(state, asking.happening.now)) {
    return refuse(`${id} is not begun now: ${breakerReason(state.breaker).text}`);
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
export function endTask(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
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
