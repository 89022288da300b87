/**
 * The plan gate (design §6): where a plan must be approved first, nothing is changed before. Whoever lets a call run asks
 * here; the answer rests on facts alone, so a restart opens nothing.
 *
 * Invariants
 * - A8 While the gate is shut only what changes nothing runs, in every actor that works in that tree: the member and its
 *   subagents. A tool that this list does not know is refused.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, LEAD, USER } from '../../kernel/index.ts';
import { type Judgement, judgeCall } from '../../permissions/index.ts';
import type { PolicyFile } from '../../protocol/index.ts';
import type { RunState } from '../state.ts';
import type { Plan, PlanRequest } from '../teamwork.ts';
import { heldTask, placeHolder, workplaceOf } from './roster.ts';

/** What runs while the gate is shut; `bash` is looked at by itself. */
const FREE: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'glob',
  'grep',
  'bash_output',
  'bash_wait',
  'bash_kill',
  'todo_write',
  'todo_read',
  'note_save',
  'load_skill',
  'memory_read',
  'compact',
  'task',
  'send_message',
  'check_inbox',
  'team_status',
  'request_plan',
  'submit_plan',
  'review_plan',
  'request_shutdown',
  'list_tasks',
  'get_task',
  'claim_task',
  'fail_task',
  'list_crons',
  'cancel_cron',
]);

/** Why the call may not run now; null when no plan stands in its way. */
export function planGate(
  state: RunState,
  actor: ActorName,
  call: { readonly tool: string; readonly input: unknown },
): string | null {
  if (FREE.has(call.tool)) return null;
  const why = gateOf(state, actor);
  if (why === null) return null;
  if (call.tool === 'bash' && readOnly(state, actor, call.input) !== null) return null;
  return why;
}

/**
 * Why nothing may be changed where this actor works; null when it may. A subagent stands under the gate of the member
 * that it works for.
 */
export function gateOf(state: RunState, actor: ActorName): string | null {
  const holder = placeHolder(state, actor);
  const missing = missingPlan(state, holder);
  if (missing === null) return null;
  const open = openPlanOf(state, holder);
  if (open !== null) {
    return `${missing}, and ${open.id} waits for ${open.to}: end your turn, the decision comes by mail`;
  }
  return `${missing}: look round, then call submit_plan; until it is approved only what changes nothing runs`;
}

function missingPlan(state: RunState, holder: ActorName): string | null {
  const node = heldTask(state, holder);
  if (node !== null && isRequired(state, holder) && approvedPlan(state, holder) === null) {
    return `task ${node.spec.id} needs an approved plan first`;
  }
  const request = bindingRequest(state, holder);
  return request === null ? null : `${request.by} wants to approve a plan first`;
}

/** Whether the task in hand, or else the profile, asks for a plan. */
export function isRequired(state: RunState, holder: ActorName): boolean {
  const node = heldTask(state, holder);
  if (node === null || node.state !== 'running') return false;
  const own = node.spec.plan ?? 'optional';
  if (own !== 'optional') return own === 'required';
  return actorOf(state.actors, holder)?.profile.plan === 'required';
}

/** The approved plan of the claim in hand, decided by who may open a gate. */
function approvedPlan(state: RunState, holder: ActorName): Plan | null {
  const node = heldTask(state, holder);
  const plan = state.team.plans.get(state.team.approved.get(node?.spec.id ?? ('' as never)) ?? '');
  if (node === null || plan === undefined || plan.by !== holder) return null;
  return plan.fence === node.fence && opens(state, plan) ? plan : null;
}

/** A teammate's word is worth something to who asked for it, and opens no gate. */
function opens(state: RunState, plan: Plan): boolean {
  return plan.decidedBy !== null && mayBind(state, plan.decidedBy, plan.by);
}

/** Whether `by` may hold `of` to a plan: the user, the lead, and who brought it into the team. */
export function mayBind(state: RunState, by: ActorName, of: ActorName): boolean {
  if (by === of) return false;
  return by === USER || by === LEAD || actorOf(state.actors, of)?.parent === by;
}

export function openPlanOf(state: RunState, name: ActorName): Plan | null {
  for (const id of state.team.open) {
    const plan = state.team.plans.get(id);
    if (plan?.by === name) return plan;
  }
  return null;
}

export function requestsOf(state: RunState, name: ActorName): PlanRequest[] {
  return [...state.team.openRequests].flatMap((id) => {
    const request = state.team.requests.get(id);
    return request?.from === name ? [request] : [];
  });
}

function bindingRequest(state: RunState, name: ActorName): PlanRequest | null {
  return requestsOf(state, name).find((request) => request.binds) ?? null;
}

/** The judgement of a command that only reads, in the form in which it was read; null of any other. */
export function readOnly(state: RunState, actor: ActorName, input: unknown): Judgement | null {
  const root = workplaceOf(state, actor)?.root ?? null;
  const rules = { default: 'deny', rules: READING.rules, policy: READING } as const;
  const { home } = state.file;
  const judged = judgeCall(
    { tool: 'bash', input },
    { ...rules, attended: false, ...(home === undefined ? {} : { home }) },
    { actor, root },
  );
  return judged.action === 'allow' ? judged : null;
}

/** What may be read is for the rules of the run to say; here it counts only that nothing is changed. */
const READING: PolicyFile = {
  version: 1,
  mode: 'read-only',
  defaults: { interactive: 'deny' },
  actors: {},
  profiles: {},
  rules: [],
  lift: ['env-files'],
};
