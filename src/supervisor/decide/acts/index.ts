/**
 * Calls that the supervisor runs for an actor: mail, the task graph, commands, subagents. The result is committed as a
 * step record, in one line with the mail it sends and the tasks it changes (design §3).
 */
import { parseCall } from '../../../tools/index.ts';
import type { Draft } from '../../draft.ts';
import type { Asking } from '../asking.ts';
import { putAsk } from '../asks/put.ts';
import { wordsOn } from '../judging.ts';
import { planGate } from '../plan-gate.ts';
import { finishAct } from '../results.ts';
import type { Act, Input } from './act.ts';
import { bashKill, bashOutput, bashWait } from './background.ts';
import { bash } from './bash.ts';
import { cancelCron, listCrons, scheduleCron } from './cron.ts';
import { claimTask, createTask, endTask, getTask, listTasks } from './graph.ts';
import { memoryAppend } from './memory.ts';
import { sendMessage } from './message.ts';
import { requestPlan, reviewPlan, submitPlan } from './plan.ts';
import { requestShutdown } from './shutdown.ts';
import { spawnTeammate } from './spawn.ts';
import { teamStatus } from './status.ts';
import { subagent } from './subagent.ts';

type Run = (asking: Asking, draft: Draft, act: Act, input: Input) => Draft;

/** By tool; each ends in `finishAct`, at once or when what it started ends. */
const ACTS: Readonly<Record<string, Run>> = {
  bash,
  bash_kill: bashKill,
  bash_output: bashOutput,
  bash_wait: bashWait,
  cancel_cron: cancelCron,
  claim_task: claimTask,
  complete_task: endTask,
  create_task: createTask,
  fail_task: endTask,
  get_task: getTask,
  list_crons: listCrons,
  list_tasks: listTasks,
  request_plan: requestPlan,
  request_shutdown: requestShutdown,
  review_plan: reviewPlan,
  memory_append: memoryAppend,
  schedule_cron: scheduleCron,
  send_message: sendMessage,
  spawn_teammate: spawnTeammate,
  submit_plan: submitPlan,
  task: subagent,
  team_status: teamStatus,
};

export function decideAct(asking: Asking, draft: Draft, act: Act): Draft {
  const parsed = parseCall({ name: act.tool, input: act.input }, [act.tool]);
  if (parsed.kind !== 'ok') return finishAct(asking, draft, act, { ok: false, text: parsed.text });
  const run = Object.hasOwn(ACTS, act.tool) ? ACTS[act.tool] : undefined;
  if (run === undefined) {
    const text = `the tool ${act.tool} is not run by the supervisor`;
    return finishAct(asking, draft, act, { ok: false, text });
  }
  // A command is judged where it is run, and its refusal is a decision on record.
  const gate = act.tool === 'bash' ? null : planGate(asking.state, asking.actor.name, act);
  if (gate !== null) return finishAct(asking, draft, act, { ok: false, text: `not run: ${gate}` });
  return byHook(asking, draft, act) ?? run(asking, draft, act, parsed.input as Input);
}

/** Calls with a judgement of their own. */
const JUDGED: ReadonlySet<string> = new Set(['bash', 'create_task', 'schedule_cron']);

/** A hook is against a call that no rule is about; null: it may run. */
function byHook(asking: Asking, draft: Draft, act: Act): Draft | null {
  if (asking.tightened === undefined || JUDGED.has(act.tool)) return null;
  const judged = wordsOn(asking, [act.tool, act.input]);
  if (judged.action === 'allow') return null;
  if (judged.action === 'ask') return putAsk(asking, draft, act, judged);
  const { name } = asking.actor;
  const { call, tool, input } = act;
  const { rule, reason } = judged;
  draft.decided({ actor: name, call, tool, input, effect: 'deny', rule, reason, layer: 'hook' });
  return finishAct(asking, draft, act, { ok: false, text: `not run: ${reason}` });
}
